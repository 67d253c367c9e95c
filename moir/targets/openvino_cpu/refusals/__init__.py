"""Operations that the CPU plugin does not execute in any form."""
