//! Imports and exports columns of other libraries through the Arrow C data interface, in
//! PyCapsules. This module has the only unsafe code of the crate.
//!
//! Source of the layouts: Apache Arrow, "The Arrow C data interface", "The Arrow C stream
//! interface" and "The Arrow PyCapsule interface".
#![allow(unsafe_code, reason = "other libraries hand out pointers")]

use hushwire::tables::BitSlice;
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::PyCapsule,
};
use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    mem,
    ptr::{self, NonNull},
    sync::Arc,
};

#[repr(C)]
struct Schema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut Schema,
    dictionary: *mut Schema,
    release: Option<unsafe extern "C" fn(*mut Schema)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct Array {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut Array,
    dictionary: *mut Array,
    release: Option<unsafe extern "C" fn(*mut Array)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut Schema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut Array) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

/// The name of a capsule with a [`Stream`].
const STREAM: &CStr = c"arrow_array_stream";

/// A struct of the interface that this program owns, and releases once.
trait Released: Sized {
    /// A struct that is already released.
    const NONE: Self;
    fn release(&mut self);
}

macro_rules! released {
    ($($kind:ident { $($field:ident: $none:expr),* })+) => {$(
        impl Released for $kind {
            const NONE: Self = $kind { $($field: $none),* };

            fn release(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the struct is initialised and not released, so its producer's
                    // callback may be called once; it clears `release`.
                    unsafe { release(self) }
                }
            }
        }
    )+};
}

released! {
    Schema {
        format: ptr::null(), name: ptr::null(), metadata: ptr::null(), flags: 0, n_children: 0,
        children: ptr::null_mut(), dictionary: ptr::null_mut(), release: None,
        private_data: ptr::null_mut()
    }
    Array {
        length: 0, null_count: 0, offset: 0, n_buffers: 0, n_children: 0, buffers: ptr::null_mut(),
        children: ptr::null_mut(), dictionary: ptr::null_mut(), release: None,
        private_data: ptr::null_mut()
    }
    Stream {
        get_schema: None, get_next: None, get_last_error: None, release: None,
        private_data: ptr::null_mut()
    }
}

/// A struct that is released when it is dropped.
struct Owned<T: Released>(Box<T>);

impl<T: Released> Owned<T> {
    fn none() -> Self {
        Self(Box::new(T::NONE))
    }
}

impl<T: Released> Drop for Owned<T> {
    fn drop(&mut self) {
        self.0.release();
    }
}

// SAFETY: the interface lets a consumer release and read a struct from any thread, and an `Owned`
// has no aliases.
unsafe impl<T: Released> Send for Owned<T> {}
// SAFETY: shared references only read, and the interface forbids its producer to write.
unsafe impl<T: Released> Sync for Owned<T> {}

/// The type of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArrowField {
    /// The column's name.
    pub(crate) name: String,
    /// The format of its values, in the notation of the interface.
    pub(crate) format: String,
    /// The format of a dictionary's values, if the column's values are places in a dictionary.
    pub(crate) dictionary: Option<String>,
    /// The name of the extension type, if the format is only the form in which its values travel.
    pub(crate) extension: Option<String>,
}

/// A column of a batch, or the batch itself as a column of whole rows. It keeps the batch alive.
pub(crate) struct View {
    /// Points to memory of `owner`.
    array: NonNull<Array>,
    owner: Arc<Owned<Array>>,
    /// The place of the first row in the buffers of the array.
    start: usize,
    rows: usize,
}

// SAFETY: as of `Owned`, whose memory `array` points to.
unsafe impl Send for View {}
// SAFETY: as of `Owned`.
unsafe impl Sync for View {}

/// A table: fields, and the columns of each batch.
pub(crate) struct Imported {
    pub(crate) fields: Vec<ArrowField>,
    /// For each batch, its number of rows and a view of each column.
    pub(crate) batches: Vec<(usize, Vec<View>)>,
}

fn wrong(what: &str) -> PyErr {
    PyValueError::new_err(format!("the Arrow stream is not valid: {what}"))
}

/// Converts a count of the interface.
fn count(n: i64) -> PyResult<usize> {
    usize::try_from(n).map_err(|_| wrong("a count is negative"))
}

/// Adds the place of a row to the place where the rows begin.
fn place(start: usize, row: usize) -> PyResult<usize> {
    start.checked_add(row).ok_or_else(|| wrong("a count is too large"))
}

/// Reads a whole table from an object with `__arrow_c_stream__`.
///
/// # Errors
/// The object has no such method, its stream was read before, or it is not a table.
pub(crate) fn import(table: &Bound<'_, PyAny>) -> PyResult<Imported> {
    let capsule = table.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| wrong("it is no capsule"))?;
    let pointer = capsule.pointer_checked(Some(STREAM))?.cast::<Stream>();
    let mut stream = Owned::<Stream>::none();
    // SAFETY: a capsule of this name holds a stream, which the first consumer moves out: the
    // capsule's destructor then finds it released. The interpreter's lock is held, so nobody else
    // does.
    unsafe { ptr::swap(pointer.as_ptr(), &raw mut *stream.0) };
    // A consumer that moves a stream out need not clear more of it than `release`.
    if stream.0.release.is_none() {
        return Err(wrong("it was read already"));
    }
    let mut schema = Owned::<Schema>::none();
    let get = stream.0.get_schema.ok_or_else(|| wrong("it has no schema"))?;
    // SAFETY: the stream is not released, and `schema` is room for a schema.
    let code = unsafe { get(&raw mut *stream.0, &raw mut *schema.0) };
    failed(&mut stream, code)?;
    let (format, fields) = fields(&schema.0)?;
    if format != "+s" {
        return Err(PyTypeError::new_err(
            "an Arrow stream of single columns is no table: bring a data frame",
        ));
    }
    let mut batches = vec![];
    let next = stream.0.get_next.ok_or_else(|| wrong("it has no batches"))?;
    loop {
        let mut batch = Owned::<Array>::none();
        // SAFETY: as above.
        let code = unsafe { next(&raw mut *stream.0, &raw mut *batch.0) };
        failed(&mut stream, code)?;
        if batch.0.release.is_none() {
            return Ok(Imported { fields, batches });
        }
        let (rows, start) = (count(batch.0.length)?, count(batch.0.offset)?);
        let end = place(start, rows)?;
        if count(batch.0.n_children)? != fields.len() {
            return Err(wrong("a batch has other columns than the schema"));
        }
        let owner = Arc::new(batch);
        let whole = View { array: NonNull::from(&*owner.0), owner: owner.clone(), start, rows };
        if whole.has_nulls() {
            return Err(wrong("a whole row is null"));
        }
        let mut columns = vec![];
        for k in 0..fields.len() {
            // SAFETY: an array has as many children as it says, each a valid pointer.
            let array = NonNull::new(unsafe { *owner.0.children.add(k) })
                .ok_or_else(|| wrong("a column is missing"))?;
            // SAFETY: it points to an array that `owner` keeps.
            let child = unsafe { array.as_ref() };
            if count(child.length)? < end {
                return Err(wrong("a column is shorter than its batch"));
            }
            let start = place(count(child.offset)?, start)?;
            columns.push(View { array, owner: owner.clone(), start, rows });
        }
        batches.push((rows, columns));
    }
}

/// Returns the error of a stream's callback.
fn failed(stream: &mut Owned<Stream>, code: c_int) -> PyResult<()> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: the stream is not released, and its last callback failed.
    let message = stream.0.get_last_error.map(|last| unsafe { last(&raw mut *stream.0) });
    // The producer's message is not shown, since it may contain anything, such as values.
    let known = match message {
        Some(message) if !message.is_null() => "its producer failed with a message",
        _ => "its producer failed",
    };
    Err(wrong(&format!("{known} and code {code}")))
}

/// Copies a text of another owner.
///
/// # Safety
/// The pointer is null, or points to a text that ends with a zero byte and outlives the call.
unsafe fn text(pointer: *const c_char) -> Option<String> {
    // SAFETY: as the caller promises.
    (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}

/// Copies the value of a key of a schema's metadata: the number of pairs, then for each of both
/// texts of a pair its length and its bytes. Numbers have 32 bits in the machine's order.
///
/// # Safety
/// The pointer is null, or points to metadata of this form that outlives the call.
unsafe fn metadata(pointer: *const c_char, key: &[u8]) -> Option<String> {
    let mut rest = NonNull::new(pointer.cast_mut())?.cast::<u8>();
    let number = |rest: &mut NonNull<u8>| {
        // SAFETY: the caller promises a number here.
        let number = unsafe { rest.cast::<i32>().read_unaligned() };
        // SAFETY: the number is within the metadata, which ends behind it or later.
        *rest = unsafe { rest.add(4) };
        usize::try_from(number).ok()
    };
    for _ in 0..number(&mut rest)? {
        let mut texts = [&[][..]; 2];
        for text in &mut texts {
            let length = number(&mut rest)?;
            // SAFETY: the caller promises as many bytes.
            *text = unsafe { std::slice::from_raw_parts(rest.as_ptr(), length) };
            // SAFETY: as above, the metadata ends behind them or later.
            rest = unsafe { rest.add(length) };
        }
        if texts[0] == key {
            return Some(String::from_utf8_lossy(texts[1]).into_owned());
        }
    }
    None
}

/// Returns the format of a schema, and the fields of its children.
fn fields(schema: &Schema) -> PyResult<(String, Vec<ArrowField>)> {
    // SAFETY: the texts of a schema that is not released are valid.
    let format = |schema: &Schema| unsafe { text(schema.format) }.unwrap_or_default();
    let mut fields = vec![];
    for k in 0..count(schema.n_children)? {
        // SAFETY: a schema has as many children as it says, which it keeps.
        let child =
            unsafe { (*schema.children.add(k)).as_ref() }.ok_or_else(|| wrong("a field is missing"))?;
        // SAFETY: a dictionary is null or a schema that its field keeps.
        let dictionary = unsafe { child.dictionary.as_ref() }.map(format);
        // SAFETY: as of `format`.
        let name = unsafe { text(child.name) }.unwrap_or_default();
        // SAFETY: metadata is null or as the interface has it, and its schema is not released.
        let extension = unsafe { metadata(child.metadata, b"ARROW:extension:name") };
        fields.push(ArrowField { name, format: format(child), dictionary, extension });
    }
    Ok((format(schema), fields))
}

impl View {
    fn array(&self) -> &Array {
        debug_assert!(self.owner.0.release.is_some());
        // SAFETY: `owner` keeps it, and nobody writes to it.
        unsafe { self.array.as_ref() }
    }

    /// Returns the number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns whether some rows have no value.
    pub(crate) fn has_nulls(&self) -> bool {
        let valid = self.valid().and_then(|(bits, start)| BitSlice::new(bits, start, self.rows));
        valid.is_some_and(|bits| bits.first_zero().is_some())
    }

    /// Returns the first `length` bytes of buffer `k`; empty if the array does not have the buffer.
    fn buffer(&self, k: usize, length: usize) -> &[u8] {
        let array = self.array();
        if length == 0 || k as i64 >= array.n_buffers {
            return &[];
        }
        // SAFETY: an array has as many pointers to buffers as it says.
        let pointer = unsafe { *array.buffers.add(k) }.cast::<u8>();
        if pointer.is_null() {
            return &[];
        }
        // SAFETY: the interface gives the length of each buffer by the format, offset and length of
        // the array. Callers ask for no more. `self` keeps the memory, which nobody writes.
        unsafe { std::slice::from_raw_parts(pointer, length) }
    }

    /// Returns a bit for each row that says whether it has a value, and the first row's bit
    /// position. `None` means that all rows have values.
    pub(crate) fn valid(&self) -> Option<(&[u8], usize)> {
        if self.array().null_count == 0 {
            return None;
        }
        let bits = self.buffer(0, (self.start + self.rows).div_ceil(8));
        (!bits.is_empty()).then_some((bits, self.start))
    }

    /// Returns truth values, and the first row's bit position.
    pub(crate) fn truths(&self) -> (&[u8], usize) {
        (self.buffer(1, (self.start + self.rows).div_ceil(8)), self.start)
    }

    /// Returns numbers of a width in bytes.
    pub(crate) fn numbers(&self, width: usize) -> &[u8] {
        let all = self.buffer(1, (self.start + self.rows) * width);
        all.get(self.start * width..).unwrap_or_default()
    }

    /// Returns strings of the format `u`, `U` or `vu`. Returns `None` for another format, or if
    /// offsets are invalid.
    pub(crate) fn texts(&self, format: &str) -> Option<Vec<&[u8]>> {
        match format {
            "u" => self.by_offsets::<4>(),
            "U" => self.by_offsets::<8>(),
            "vu" => self.by_views(),
            _ => None,
        }
    }

    fn by_offsets<const W: usize>(&self) -> Option<Vec<&[u8]>> {
        let last = self.start + self.rows;
        let offsets = self.buffer(1, if self.rows == 0 { 0 } else { (last + 1) * W });
        let offset = |i: usize| {
            let mut bytes = [0; 8];
            bytes[..W].copy_from_slice(offsets.get(i * W..(i + 1) * W)?);
            usize::try_from(u64::from_le_bytes(bytes)).ok()
        };
        if self.rows == 0 {
            return Some(vec![]);
        }
        let data = self.buffer(2, offset(last)?);
        (self.start..last).map(|i| data.get(offset(i)?..offset(i + 1)?)).collect()
    }

    fn by_views(&self) -> Option<Vec<&[u8]>> {
        let n = count(self.array().n_buffers).ok()?;
        // The array of buffer lengths is between the buffers with text and these lengths.
        let pieces = n.checked_sub(3)?;
        let lengths = self.buffer(n - 1, 8 * pieces);
        let word = |bytes: &[u8]| Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize);
        let view = |view: &'_ [u8]| -> Option<(usize, Option<(usize, usize)>)> {
            let length = word(&view[..4])?;
            Some((length, if length <= 12 { None } else { Some((word(&view[8..12])?, word(&view[12..])?)) }))
        };
        let views = self.numbers(16);
        if views.len() != 16 * self.rows {
            return None;
        }
        views
            .chunks_exact(16)
            .map(|bytes| match view(bytes)? {
                (length, None) => bytes.get(4..4 + length),
                (length, Some((piece, from))) => {
                    let size: [u8; 8] = lengths.get(8 * piece..8 * (piece + 1))?.try_into().ok()?;
                    let size = usize::try_from(i64::from_le_bytes(size)).ok()?;
                    self.buffer(2 + piece, size).get(from..from + length)
                }
            })
            .collect()
    }

    /// Returns the values of a dictionary, in which the column has places.
    pub(crate) fn dictionary(&self) -> Option<View> {
        let array = NonNull::new(self.array().dictionary)?;
        // SAFETY: a dictionary is an array that its column keeps.
        let inner = unsafe { array.as_ref() };
        let (rows, start) = (count(inner.length).ok()?, count(inner.offset).ok()?);
        Some(View { array, owner: self.owner.clone(), start, rows })
    }
}

/// A column for other libraries.
pub(crate) struct Exported {
    pub(crate) name: String,
    /// The format of its values.
    pub(crate) format: String,
    /// A bit for each row that says whether it has a value; `None` if all rows have values.
    pub(crate) valid: Option<Vec<u8>>,
    /// The buffers after the validity buffer.
    pub(crate) buffers: Vec<Vec<u8>>,
}

/// The memory of an exported schema.
struct SchemaParts {
    _format: CString,
    _name: CString,
    children: Vec<*mut Schema>,
}

/// The memory of an exported array.
struct ArrayParts {
    _valid: Option<Vec<u8>>,
    _buffers: Vec<Vec<u8>>,
    pointers: Vec<*const c_void>,
    children: Vec<*mut Array>,
}

/// The memory of an exported stream.
struct StreamParts {
    rows: usize,
    columns: Arc<Vec<Exported>>,
    /// Whether the consumer has the only batch.
    done: bool,
}

/// The flag of a field that may have nulls.
const NULLABLE: i64 = 2;

/// Copies a text without its zero bytes, which the interface cannot represent.
fn c_text(text: &str) -> CString {
    let text: Vec<u8> = text.bytes().filter(|byte| *byte != 0).collect();
    CString::new(text).unwrap_or_default()
}

fn schema(format: &str, name: &str, nullable: bool, children: Vec<Schema>) -> Schema {
    let children: Vec<*mut Schema> =
        children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
    let mut parts = Box::new(SchemaParts { _format: c_text(format), _name: c_text(name), children });
    Schema {
        format: parts._format.as_ptr(),
        name: parts._name.as_ptr(),
        flags: if nullable { NULLABLE } else { 0 },
        n_children: parts.children.len() as i64,
        children: parts.children.as_mut_ptr(),
        release: Some(release_schema),
        private_data: Box::into_raw(parts).cast(),
        ..Schema::NONE
    }
}

unsafe extern "C" fn release_schema(schema: *mut Schema) {
    // SAFETY: a consumer calls this once, with a schema that `schema` above made.
    let (parts, schema) =
        unsafe { (Box::from_raw((*schema).private_data.cast::<SchemaParts>()), &mut *schema) };
    for child in &parts.children {
        // SAFETY: `schema` made it by a box; a consumer that moved it out has cleared `release`.
        let mut child = unsafe { Box::from_raw(*child) };
        child.release();
    }
    schema.release = None;
}

fn array(rows: usize, valid: Option<Vec<u8>>, buffers: Vec<Vec<u8>>, children: Vec<Array>) -> Array {
    let children: Vec<*mut Array> =
        children.into_iter().map(|child| Box::into_raw(Box::new(child))).collect();
    let first = valid.as_ref().map_or(ptr::null(), |bits| bits.as_ptr().cast());
    let pointers =
        std::iter::once(first).chain(buffers.iter().map(|buffer| buffer.as_ptr().cast())).collect();
    let nulls = if valid.is_some() { -1 } else { 0 };
    let mut parts = Box::new(ArrayParts { _valid: valid, _buffers: buffers, pointers, children });
    Array {
        length: rows as i64,
        null_count: nulls,
        n_buffers: parts.pointers.len() as i64,
        n_children: parts.children.len() as i64,
        buffers: parts.pointers.as_mut_ptr(),
        children: parts.children.as_mut_ptr(),
        release: Some(release_array),
        private_data: Box::into_raw(parts).cast(),
        ..Array::NONE
    }
}

unsafe extern "C" fn release_array(array: *mut Array) {
    // SAFETY: as of `release_schema`.
    let (parts, array) = unsafe { (Box::from_raw((*array).private_data.cast::<ArrayParts>()), &mut *array) };
    for child in &parts.children {
        // SAFETY: as of `release_schema`.
        let mut child = unsafe { Box::from_raw(*child) };
        child.release();
    }
    array.release = None;
}

/// Returns the memory of an exported stream.
///
/// # Safety
/// `export` made the stream, and it is not released.
unsafe fn parts<'a>(stream: *mut Stream) -> &'a mut StreamParts {
    // SAFETY: as the caller promises; consumers call one callback at a time.
    unsafe { &mut *(*stream).private_data.cast::<StreamParts>() }
}

unsafe extern "C" fn get_schema(stream: *mut Stream, out: *mut Schema) -> c_int {
    // SAFETY: a consumer calls this with a stream of ours that is not released.
    let parts = unsafe { parts(stream) };
    let field = |column: &Exported| schema(&column.format, &column.name, true, vec![]);
    let whole = schema("+s", "", false, parts.columns.iter().map(field).collect());
    // SAFETY: `out` is room for a schema.
    unsafe { out.write(whole) };
    0
}

unsafe extern "C" fn get_next(stream: *mut Stream, out: *mut Array) -> c_int {
    // SAFETY: as of `get_schema`.
    let parts = unsafe { parts(stream) };
    let next = if mem::replace(&mut parts.done, true) {
        Array::NONE
    } else {
        let column =
            |column: &Exported| array(parts.rows, column.valid.clone(), column.buffers.clone(), vec![]);
        array(parts.rows, None, vec![], parts.columns.iter().map(column).collect())
    };
    // SAFETY: `out` is room for an array.
    unsafe { out.write(next) };
    0
}

unsafe extern "C" fn get_last_error(_: *mut Stream) -> *const c_char {
    ptr::null()
}

unsafe extern "C" fn release_stream(stream: *mut Stream) {
    // SAFETY: a consumer calls this once, with a stream that `export` made.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<StreamParts>()));
        (*stream).release = None;
    }
}

/// Returns a capsule with a stream of one batch.
///
/// # Errors
/// The interpreter has no memory.
pub(crate) fn export<'py>(
    py: Python<'py>,
    rows: usize,
    columns: &Arc<Vec<Exported>>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let parts = Box::new(StreamParts { rows, columns: columns.clone(), done: false });
    let stream = Box::into_raw(Box::new(Stream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release_stream),
        private_data: Box::into_raw(parts).cast(),
    }));
    // SAFETY: the box is dropped once: by `drop_capsule`, or here if there is no capsule.
    unsafe {
        let capsule = pyo3::ffi::PyCapsule_New(stream.cast(), STREAM.as_ptr(), Some(drop_capsule));
        let capsule = Bound::from_owned_ptr_or_err(py, capsule);
        Ok(capsule.inspect_err(|_| drop(Owned(Box::from_raw(stream))))?.cast_into_unchecked())
    }
}

unsafe extern "C" fn drop_capsule(capsule: *mut pyo3::ffi::PyObject) {
    // SAFETY: the interpreter calls this once, with the capsule that `export` made, whose pointer
    // is that of a box. A consumer that moved the stream out has cleared `release`.
    unsafe {
        let pointer = pyo3::ffi::PyCapsule_GetPointer(capsule, STREAM.as_ptr());
        if !pointer.is_null() {
            drop(Owned(Box::from_raw(pointer.cast::<Stream>())));
        }
    }
}
