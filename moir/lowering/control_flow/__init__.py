"""Control flow that all frameworks have: bodies, branches, and the connections of loops."""
