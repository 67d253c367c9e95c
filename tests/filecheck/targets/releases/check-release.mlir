// RUN: not moir-opt %s -p 'check-release{release="2021.4"}' 2>&1 | filecheck %s
// RUN: not moir-opt %s -p 'lower-to-release{release="2021.4"},check-release{release="2021.4"}' 2>&1 | filecheck %s --check-prefix=LOWERED
// RUN: not moir-opt %s -p 'lower-to-release{release="2020.3"}' 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: moir-opt %s -p 'check-release{release="2024.0"}' | filecheck %s --check-prefix=ACCEPTED

// CHECK: opset8.Softmax 'p': OpenVINO Runtime 2021.4 does not read opset8.Softmax, for which there are no older operations here; 2022.1 is the first release that does (--runtime 2022.1)
// LOWERED: opset3.NonZero 'y': OpenVINO Runtime 2021.4 does not read tensors with dynamic dimensions, such as [2,?]; give the inputs static shapes
// UNKNOWN: there is no release '2020.3' of the runtime; did you mean
// ACCEPTED: opset3.NonZero
builtin.module {
  moir.model @m {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %0 = opset8.Softmax(%x) {axis = 1, name = "p"} : tensor<2x3xf32>
    %1 = opset3.NonZero(%0) {output_type = si64, name = "y"} : tensor<2x?xsi64>
    opset1.Result(%1) {name = "y"}
  }
}
