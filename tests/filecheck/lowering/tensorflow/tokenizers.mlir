// RUN: moir-opt %s -p lower-tf,eliminate-dead --split-input-file | filecheck %s

// A pattern that needs an automaton is one of PCRE2 for an operation of OpenVINO Tokenizers, which the model says once.
// CHECK-LABEL: moir.model @automaton
// CHECK-SAME:    runtime_extensions = ["openvino_tokenizers"]
// CHECK-SAME:    notes = ["the model needs OpenVINO Tokenizers in the runtime: `import openvino_tokenizers` before it is read"]
// CHECK:         %{{.*}}, %{{.*}}, %{{.*}} = opset15.StringTensorUnpack(%x)
// CHECK:         extension.RegexNormalization(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {global_replace = "true"} : tensor<2xsi32>, tensor<2xsi32>, tensor<?xui8>
// CHECK:         opset15.StringTensorPack
// CHECK:         extension.StringToHashBucket(%{{.*}}, %{{.*}}, %{{.*}}) {num_buckets = "7", name = "h"{{.*}}} : tensor<2xsi64>
builtin.module {
  moir.model @automaton {
    %x = opset1.Parameter() {name = "x"} : tensor<2x!moir.string>
    %0 = tf.StaticRegexReplace(%x) {pattern = "(a|b)+c", rewrite = "\\1"} : tensor<*x!moir.dynamic>
    %1 = tf.StringToHashBucketFast(%0) {num_buckets = 7, name = "h"} : tensor<*x!moir.dynamic>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// A set of bytes does not need one.
// CHECK-LABEL: moir.model @bytes
// CHECK-NOT:     extension.
// CHECK-NOT:     runtime_extensions
builtin.module {
  moir.model @bytes {
    %x = opset1.Parameter() {name = "x"} : tensor<2x!moir.string>
    %0 = tf.StaticRegexReplace(%x) {pattern = "[ab]+", rewrite = "c"} : tensor<*x!moir.dynamic>
    opset1.Result(%0) {name = "y"}
  }
}
