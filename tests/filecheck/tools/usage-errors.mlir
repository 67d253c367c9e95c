// RUN: not moir-opt %s -p nothing 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not moir-opt %s -p 'fold-constants{x=1}' 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not moir-opt %s -p 'fold-constants{static-shape=2}' 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: not moir-opt %s -p 'fold constants' 2>&1 | filecheck %s --check-prefix=SYNTAX
// RUN: not moir-opt %s -p 'default{zzz=3}' 2>&1 | filecheck %s --check-prefix=DEFAULT
// RUN: not moir-opt %s --resume-after nowhere 2>&1 | filecheck %s --check-prefix=AFTER
// RUN: not moir-opt %s --resume-after fold-constants 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not moir-opt %s --resume-after 900 2>&1 | filecheck %s --check-prefix=BEYOND
// RUN: not moir-opt %s --resume-after 003-front-start 2>&1 | filecheck %s --check-prefix=OTHER
// RUN: not moir-opt %s -p default --resume-after 3 2>&1 | filecheck %s --check-prefix=BOTH
// RUN: not moir-opt %s -t onx 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not moir-opt %s -o %t/a.mlir --weights-file %t/b/a.bin 2>&1 | filecheck %s --check-prefix=BESIDE
// RUN: not moir-opt %s --split-input-file -t ir -o %t.xml 2>&1 | filecheck %s --check-prefix=SPLIT
// RUN: not moir-opt %s -t ir -o %t.txt 2>&1 | filecheck %s --check-prefix=OUTPUT --allow-empty

// UNKNOWN: moir-opt: error: there is no pass 'nothing'; `moir passes` lists the passes
// OPTION: moir-opt: error: 'fold-constants' has no option 'x'; its options are static-shape
// TYPE: moir-opt: error: options of pass 'fold-constants': Incompatible types
// SYNTAX: moir-opt: error: the pipeline 'fold constants' cannot be read: Expected a comma
// DEFAULT: moir-opt: error: 'default' has no option 'zzz'; its options are after, {{.*}}layout-change{{.*}}
// AFTER: moir-opt: error: 'nowhere' is not a pass of the default pipeline
// TWICE: moir-opt: error: 'fold-constants' occurs {{[0-9]}} times in the default pipeline; say {{[0-9]+}}-fold-constants, {{[0-9]+}}-fold-constants or
// BEYOND: moir-opt: error: the default pipeline has no pass 900
// OTHER: moir-opt: error: the default pipeline has no pass 003-front-start; did you mean 001-front-start?
// BOTH: moir-opt: error: -p, --pass-pipeline and --resume-after exclude each other
// TARGET: moir-opt: error: -t/--target cannot be 'onx'
// BESIDE: moir-opt: error: --weights-file is a file in the folder of the output
// SPLIT: moir-opt: error: --split-input-file goes with text output only
// OUTPUT: the name of the file to write must end in .xml

moir.model @m {
  %x = opset1.Parameter() {name = "x"} : tensor<1xf32>
  opset1.Result(%x) {name = "r"}
}
