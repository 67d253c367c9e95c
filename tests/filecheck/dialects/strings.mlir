// RUN: moir-opt %s | moir-opt | moir-opt -t ir | filecheck %s

builtin.module {
  moir.model @"Modell für\09\"alle\"" {
    %x = opset1.Parameter() {name = "输入", tensor_names = ["über,a\\,b"]} : tensor<1xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<1x!moir.string>, ["ä\0D\0Ab"]>, name = "\C3\A4"} : tensor<1x!moir.string>
    opset1.Result(%x) {name = "r"}
  }
}

// CHECK: <net name="Modell für{{.*}}alle{{.*}}" version="11">
// CHECK: name="输入" type="Parameter"
// CHECK: names="über,a\,b"
// CHECK: name="ä" type="Const"
