"""Model Optimizer's extension mechanism: its graph, its API and its operations, on the operations of a module.

The folders, each of which imports only earlier ones:

- `values`: values of extensions and those of the IR: masked shapes, Python values, masks of slices;
- `frameworks`: what extensions see of the models of each framework: one view per framework;
- `block`: a view of a block of operations, with ids, edits and sentinels; it knows no nodes;
- `attributes`: the attributes of operation nodes and data nodes as mappings;
- `graph`: nodes, ports, connections, matching, editing;
- `lowering`: operations that extensions make -> operation sets and `extension`;
- `api`: the classes and functions that extensions import;
- `detection`: moir's own transformations of detection heads, which configuration files name.

The way from a transformation's call to the changed module, file by file:

1. `graph_collector.GraphCollector` finds the transformation, a subclass of `ReplacementPattern` in
   `api.transformations.replacement`, in a file of an extension and wraps it in a `graph_passes.GraphPass`, whose place
   follows from `api.transformations.anchors`.
2. `GraphPass.apply` makes a `graph.graph.Graph` of the block of a model: a view, not a copy. Inside
   `graph.session.edit` it calls `find_and_replace_pattern(graph)` of the transformation.
3. Unless that is overridden, `apply_to_matches` of `api.transformations.replacement` calls
   `graph.matching.find_subgraph_matches` with the `pattern()` of the transformation. A match maps aliases to nodes;
   `graph.node.GraphNode` is a view of an operation.
4. `replace_pattern` of the transformation edits the graph:
   - an attribute is a property or a Python attribute of the operation (`attributes.operation_attributes`), a shape or
     value the type of a result (`attributes.data_attributes`);
   - `graph.operation.Op.create_node` makes an operation of the `mo` dialect (`graph.creation.create_operation`), and
     `block.view.BlockView.append` puts it into the block;
   - `connect` and `set_source` of `graph.port` set operands (`BlockView.set_operand`).
   Every edit goes through `block.view.BlockView`, which notes the operations that changed.
5. `graph.session.finish`, at the end of `edit`, puts the block in order: it drops disconnected ports and sorts
   (`moir.analysis.order.sort_block`). In the middle and back phases `graph.node_inference.infer_changed` goes over the
   operations that changed: `lowering.lower_mo.lower_node` replaces those of the `mo` dialect, the others are inferred.
6. In the front phase operations of the `mo` dialect stay until `moir.lowering.driver` lowers them in one walk with
   those of the framework. In every phase `lowering.table.mo` gives them their handler, which is
   `lowering.operation.lower_operation`: it calls the built-in handler of the kind (`lowering/*.py`), or builds the
   operation that `backend_attrs` describe.
"""
