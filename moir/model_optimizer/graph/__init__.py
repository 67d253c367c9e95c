"""Model Optimizer's graph: a view of a block of operations as nodes, ports and connections.

The files, each of which imports only earlier ones:

- leaves: `sentinels` (disconnected ports), `edges`, `identifiers` (ids of nodes), `operation_names` (`op` and `type`),
  `extractor_attributes`, `shapes` (masked arrays), `python_values`, `operand_counts`, `protobuf_view` (`node.pb`);
- `view`: the block with its ids, edits and notes of what was edited; it knows no nodes;
- `operation_attributes` and `data_attributes`: the attributes of operation nodes and data nodes as mappings;
- `creation` (operations from attributes) and `clean_up` (dead operations);
- `attributed_node`, `port`, `node`: the core of a node; its ports and connections; the node that extensions get;
- `editing`, `matching`, `node_inference`, `xml_records`: functions on nodes;
- `networkx_graph`, `graph`: the graph that extensions get;
- `operation`: the class `Op`, from which extensions make nodes;
- `session`: the frame around a transformation.
"""
