"""The models of each framework as extensions see them: one view per framework, named by the framework's record.

- `view`: the class of views; `lookup`: the view of a framework, and the names of its kinds;
- `extracted`: one attribute of a node, and the forms that frameworks have in common; `spatial_windows`, `tensor_names`;
- a folder for each framework, whose `view.py` has its `VIEW`.

Without a view, nodes have the framework's names and the attributes of their operations.
"""
