// RUN: moir passes --extensions %S/Inputs/extension | filecheck %s
// RUN: moir passes --framework tf --layout-change=none | filecheck %s --check-prefix=TF

// CHECK: 001 | front-start
// CHECK: lower-onnx {{ +}}Lowers ONNX operations
// CHECK: | front-finish
// CHECK-EMPTY:
// CHECK-NEXT: | middle-start
// CHECK-NEXT: - half-to-multiply {{ +}}Half(x) -> x * 0.5. (HalfToMultiply in {{.*}}halve.py): after middle-start by default; before middle-finish by default, not enabled
// CHECK-NEXT: + multiply-to-half
// CHECK: | back-finish
// CHECK: | anchor; + of an extension; - of an extension, not enabled

// TF-NOT: choose-layouts
// TF: lower-tf
// TF-NOT: choose-layouts
