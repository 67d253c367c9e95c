"""The dialects: those of the frameworks, `moir`, and the operation sets."""

# numpy is imported before xDSL, which imports typing_extensions: that replaces functions of `typing` by slower ones,
# with which the generic classes of numpy take 2 % of the conversion of a small model more.
import numpy as numpy
