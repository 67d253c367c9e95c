// RUN: moir-opt --list-passes | filecheck %s --check-prefix=PASSES
// RUN: moir-opt --show-dialects | filecheck %s --check-prefix=DIALECTS
// RUN: moir-opt --list-passes --extensions %S/Inputs/extension | filecheck %s --check-prefix=EXTENSION

// PASSES:      Passes:
// PASSES-NEXT:   default
// PASSES:        fuse-swish {{ +}}Fuses
// PASSES:        lower-onnx {{ +}}Lowers ONNX operations
// PASSES:        lower-tf

// DIALECTS:      Dialects:
// DIALECTS-NEXT:   builtin
// DIALECTS:        onnx {{ +}}Operations of ONNX
// DIALECTS:        opset1 {{ +}}{{.*}} in all: Clamp, Elu,
// DIALECTS:        extension

// EXTENSION: multiply-to-half {{ +}}Of an extension
