// RUN: not moir-opt %s 2>&1 | filecheck %s
// RUN: moir-opt %s --allow-unregistered-dialect | filecheck %s --check-prefix=ALLOWED
// RUN: not moir-opt %s --allow-unregistered-dialect -t ir 2>&1 | filecheck %s --check-prefix=IR

// CHECK: moir-opt: error: {{.*}}unknown-operation.mlir:8:{{[0-9]+}}: {{.*}}not registered
// ALLOWED: "unknown.Op"
// IR: moir-opt: error: operations are left that do not exist in OpenVINO IR: {{.*}}unknown.Op{{.*}} ('one')
moir.model @m { "unknown.Op"() {name = "one"} : () -> () }
