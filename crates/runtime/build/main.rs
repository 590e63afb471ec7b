//! Finds ExecuTorch, compiles the C++ side of the bridge against it and says how to link it.

mod explain;
mod find;
mod link;

fn main() {
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-changed=cpp");
    println!("cargo:rerun-if-changed=src/bridge.rs");
    match find::executorch() {
        Ok(install) => link::bridge_and_libraries(&install),
        Err(problem) => explain::at_link_time(&problem),
    }
}
