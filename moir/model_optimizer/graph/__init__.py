"""Nodes, ports and connections: the graph of Model Optimizer, on a block of operations.

- `creation` (operations from attributes), `made_constants` and `clean_up` (dead operations);
- `attributed_node`, `port_data`, `port`, `node`: the core of a node, its ports and connections, the node of extensions;
- `editing`, `matching`, `near_matches`, `node_inference`, `xml_records`: functions on nodes;
- `attribute_permutation`, `input_permutation`: attributes and inputs that change with the order of axes;
- `normal_inputs`, `output_counts`, `framework_forms`: operations of a framework in the form that Model Optimizer gave
  them, and back;
- `networkx_graph`, `graph`: the graph that extensions get;
- `operation`: the class `Op`, from which extensions make nodes;
- `session`: the steps before and after a transformation.
"""
