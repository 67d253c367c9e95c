"""An operation OpenVINO does not have."""

from xdsl.irdl import irdl_op_definition, operand_def, result_def

from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import boolean_property


@irdl_op_definition
class Half(OpsetOp):
    """x / 2."""

    name = "extension.Half"
    data = operand_def()
    exact = boolean_property(True)
    result = result_def()

    def infer(self, known):
        return (self.operands[0].type,)

    def evaluate(self, data):
        return (data / 2,)
