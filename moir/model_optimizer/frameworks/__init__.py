"""What extensions see of the models of each framework: a view a framework, named by the framework's record.

- `view`: the class of views; `lookup`: the view of a framework, and the names of its kinds;
- `extracted`: one attribute of a node, and the forms that frameworks have in common; `spatial_windows`, `tensor_names`;
- a folder for each framework, whose `view.py` has its `VIEW`.

A framework without a view has nodes that are called as in the framework, with the attributes of their operations.
"""
