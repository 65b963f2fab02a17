//! Faults as exceptions of the package.

use hushwire::{
    Fault,
    fault::{Kind, code},
};
use pyo3::{prelude::*, sync::PyOnceLock, types::PyDict};

/// Returns the name of the exception for a fault, in `hushwire.errors`.
fn class(fault: &Fault) -> &'static str {
    if fault.code() == code::CANCELLED {
        return "Cancelled";
    }
    match fault.kind() {
        Kind::Internal => "InternalError",
        Kind::Usage => "UsageError",
        Kind::Network => "NetworkError",
        Kind::File => "FileError",
        Kind::Refused => "Refused",
    }
}

/// Returns the exception for a fault, with its member, step, cause, remedy and code.
pub(crate) fn raised(py: Python<'_>, fault: &Fault) -> PyErr {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let made = || -> PyResult<Bound<'_, PyAny>> {
        let module = MODULE.get_or_try_init(py, || py.import("hushwire.errors").map(Bound::unbind))?;
        let words = PyDict::new(py);
        words.set_item("party", fault.who().map(ToString::to_string))?;
        words.set_item("step", fault.step())?;
        words.set_item("cause", fault.cause())?;
        words.set_item("remedy", fault.remedy())?;
        words.set_item("code", fault.code().to_string())?;
        module.bind(py).getattr(class(fault))?.call((), Some(&words))
    };
    made().map_or_else(|e| e, PyErr::from_value)
}

/// Converts a result for Python.
pub(crate) fn result<T>(py: Python<'_>, result: Result<T, Fault>) -> PyResult<T> {
    result.map_err(|fault| raised(py, &fault))
}
