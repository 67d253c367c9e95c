"""A view of a block of operations: ids, edges and names, without the nodes of Model Optimizer's API.

- `sentinels` (disconnected ports), `edges`, `identifiers` (ids of nodes), `operand_counts`, `making_places`;
- `operation_names`: the `op` and `type` of an operation;
- `view`: the block with its ids, edits and notes of what was edited.
"""
