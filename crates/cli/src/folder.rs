//! Memory of files: what the folder is, before anything is mapped.

use memgauge_model::{Plan, Refusal, units};
use memgauge_sys::folder;
use std::path::Path;

/// Says in the plan what its memory is, or refuses a folder that can't hold it.
pub fn look(plan: &mut Plan) -> Result<(), Refusal> {
    let Some(path) = plan.request.folder.clone() else { return Ok(()) };
    let refuse = |problem: String, remedy: &str| Err(Refusal::new("--memory-dir", &path, problem, remedy));
    if plan.simulated {
        return refuse("a machine that is only described has no files".to_owned(), "leave it out");
    }
    let seen = match folder::ask(Path::new(&path)) {
        Ok(seen) => seen,
        Err(errno) => {
            return refuse(format!("no file can be made and mapped there: {errno}"), "name a folder that can be written");
        }
    };
    if seen.free < plan.budget.buffers {
        let (needed, free) = (units::bytes(plan.budget.buffers), units::bytes(seen.free));
        return refuse(
            format!("{needed} are needed, {free} are free there"),
            "use a smaller --buffer, or a folder with more room",
        );
    }
    let is = if seen.dax { "the storage itself (DAX)" } else { "not DAX: the page cache's, in ordinary memory" };
    plan.notes.push(format!("memory is of files in {path} ({}), {is}", seen.kind));
    Ok(())
}
