"""moir's passes as passes of xDSL.

Code that uses xDSL's class of passes imports it from here: all passes of moir are instances of this class. Code that
calls more methods of a pass than `apply` gets an instance of a class that derives from both.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any, cast

from xdsl.passes import ModulePass

from moir.support.module_pass import Pass

ModulePass.register(Pass)


@cache
def module_pass_class(source: type[ModulePass]) -> type[ModulePass]:
    """A class derived from the class `source` of a pass of moir and from xDSL's ModulePass, so that its instances have
    options, too.
    """
    if ModulePass in source.__mro__:
        return source
    return cast(Any, type(source.__name__, (source, ModulePass), {"__doc__": source.__doc__, "__module__": source.__module__}))


def module_pass(each: ModulePass) -> ModulePass:
    """A pass with the methods of xDSL's class of passes, for its options: `each` itself if it has them."""
    made = module_pass_class(type(each))
    return each if made is type(each) else made(**{field.name: getattr(each, field.name) for field in fields(made) if field.init})
