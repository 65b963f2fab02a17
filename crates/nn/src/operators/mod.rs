//! Operators. Each one, or each family, has a row of [`OPERATORS`] and a file here, which define it
//! completely.
//!
//! ```text
//! a row     a layer's operation · its documentation · the ONNX operators that are read to it
//! a file    inputs and attributes · reading · floating point · weights · shares · room
//! ```
//!
//! A new operator is a file and a row. A layer's operation is a [`Definition`]; an [`Operator`]
//! defines its form in ONNX.

#[cfg(test)]
mod bounds;
#[cfg(test)]
mod checks;

mod activations;
mod add;
mod affine;
mod arg_max;
mod attention;
mod bound;
mod choose;
mod clip;
mod compare;
mod concat;
mod conv;
mod conv_transpose;
mod cum_sum;
mod dense;
mod div;
mod einsum;
mod elu;
mod extremes;
mod function;
mod gelu;
mod imputed;
mod input;
mod known;
mod labels;
mod layer_norm;
mod leaky_relu;
mod log_softmax;
mod logic;
mod lookup;
mod matmul;
mod ml;
mod mul;
mod neg;
mod normalizer;
mod norms;
mod one_hot;
mod pad;
mod pick;
mod pool;
mod pow;
mod prelu;
mod quantize;
mod recurrent;
mod reduce;
mod reference;
mod relu;
mod remainder;
mod resample;
mod reshape;
mod scatter;
mod sigmoid;
mod signal;
mod softmax;
mod sub;
mod svm;
mod tanh;
mod top_k;
mod transpose;
mod trees;
mod volumes;
mod whole;

use crate::{
    Array, Fault,
    import::operator::{Import, Known, Reading},
    secure::{
        context::{Held, Lower, Site},
        recipe::WeightPart,
        room::{Limit, Limits, Room},
    },
};
use std::{borrow::Cow, sync::Arc};

pub(crate) use add::Add;
pub(crate) use affine::Affine;
use bound::Bound;
pub use conv::Conv;
pub(crate) use dense::Dense;
pub(crate) use div::whole_quotient;
pub(crate) use function::numbers;
pub(crate) use input::Input;
pub(crate) use mul::Mul;
pub use pool::Pool;
pub use reference::reference;
pub(crate) use transpose::Transpose;

/// The names that operators' files import.
mod prelude {
    pub(super) use super::{Bound, Definition, Factors, Kind, Operator, ScaleRole};
    pub(super) use crate::{
        Array, Fault, Numbers,
        error::shown,
        import::operator::{Import, Known, Reading},
        secure::{
            context::{Held, Lower, Placed, Site, along, shape},
            recipe::{Recipe, Squares, WeightPart, known_data},
            room::{Limit, Limits, Room},
        },
    };
    pub(super) use std::{borrow::Cow, sync::Arc};
}

/// A layer's operation, with its weights.
///
/// Methods with a default are for operations that have weights, or that compute with larger numbers
/// than their value.
pub(crate) trait Definition {
    /// The operator's name in ONNX.
    fn name(&self) -> &'static str;

    /// Its effect on scales and places.
    fn role(&self) -> ScaleRole;

    /// Computes the value, of these lengths, in floating point.
    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array;

    /// Computes the value on shares.
    ///
    /// # Errors
    /// Values with these shapes are not supported.
    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault>;

    /// A part of its weights.
    fn part(&self, _: WeightPart) -> Cow<'_, [f32]> {
        Cow::Borrowed(&[])
    }

    /// The rows and columns of its factors, if it has factors.
    fn factors(&self) -> Option<Factors> {
        None
    }

    /// The number of its products, if it makes `made` elements from values of these lengths.
    fn products(&self, _made: u64, _reads: &[&[usize]]) -> u64 {
        0
    }

    /// The greatest root of a row's sum of squares, if it takes such roots.
    fn root(&self, _: &Array) -> f32 {
        0.0
    }

    /// Bounds on scales in addition to the bound on its value.
    fn limits(&self, _: &Limits<'_>) -> Vec<Limit> {
        vec![]
    }

    /// The numbers that replace places, if it replaces them.
    fn names(&self) -> Option<Vec<f32>> {
        None
    }

    /// The number of bits above its greatest intermediate number.
    fn room(&self, room: &Room<'_>) -> f64 {
        room.own(room.wide())
    }
}

/// The effect of an operation on scales and places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScaleRole {
    /// It has weights that convert any scale to any other; its value is cut later.
    Weights,
    /// It keeps the scale of its only operand: it works element by element, or selects elements.
    Keeps,
    /// It keeps all elements, in another order or along other axes.
    Moves,
    /// It finds places along an axis.
    Places(usize),
    /// It is a function of each element that costs as much as many products.
    Function,
    /// Any other operation.
    Other,
}

/// The rows of factors; a column has `inner` elements of each row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factors {
    pub(crate) rows: usize,
    pub(crate) inner: usize,
}

/// An operator of ONNX.
#[derive(Clone, Copy)]
pub(crate) struct Operator {
    /// Its operator set; empty for the standard one.
    pub(crate) set: &'static str,
    pub(crate) name: &'static str,
    /// The documentation.
    doc: &'static str,
    /// The largest number of inputs.
    pub(crate) inputs: usize,
    /// The largest number of outputs; `fewer` is the remedy if there are more.
    pub(crate) outputs: usize,
    pub(crate) fewer: &'static str,
    pub(crate) attributes: &'static [&'static str],
    /// Inputs that may replace an attribute.
    pub(crate) twice: &'static [(usize, &'static str)],
    /// Whether it moves elements of any kind.
    pub(crate) moves: bool,
    /// The greatest error of its value in fixed point.
    pub(crate) error: Bound,
    pub(crate) read: Read,
}

/// Reads an operator as a layer, or as its value if that is known.
type ReadOne = fn(&Reading<'_>, &mut Import) -> Result<Known, Fault>;
/// Reads an operator with several outputs.
type ReadAll = fn(&Reading<'_>, &mut Import) -> Result<Vec<Known>, Fault>;

/// The reading of an operator.
#[derive(Clone, Copy)]
pub(crate) enum Read {
    One(ReadOne),
    All(ReadAll),
}

impl Operator {
    /// The bound on its error. Moves of elements make none.
    fn bound(&self) -> Bound {
        if self.moves && self.error == Bound::UNSTATED { Bound::EXACT } else { self.error }
    }

    /// An operator with one input, one output, and no attributes.
    const fn new(name: &'static str, doc: &'static str, read: ReadOne) -> Self {
        Self::of(name, doc, Read::One(read))
    }

    /// An operator with several outputs.
    const fn several(name: &'static str, doc: &'static str, read: ReadAll) -> Self {
        Self::of(name, doc, Read::All(read))
    }

    /// An operator of the set `ai.onnx.ml`.
    const fn ml(name: &'static str, doc: &'static str, read: ReadOne) -> Self {
        Operator { set: "ai.onnx.ml", ..Self::new(name, doc, read) }
    }

    const fn of(name: &'static str, doc: &'static str, read: Read) -> Self {
        Operator {
            set: "",
            name,
            doc,
            inputs: 1,
            outputs: 1,
            fewer: "use its first output alone",
            attributes: &[],
            twice: &[],
            moves: false,
            error: Bound::UNSTATED,
            read,
        }
    }
}

macro_rules! operators {
    ($($kind:ident = $file:ident, $doc:literal, [$($operator:ident),*];)+) => {
        /// The operation of a layer.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Kind {
            $(#[doc = $doc] $kind($file::$kind),)+
        }

        impl Kind {
            /// Its definition.
            pub(crate) fn def(&self) -> &dyn Definition {
                match self {
                    $(Kind::$kind(kind) => kind,)+
                }
            }
        }

        /// All supported operators.
        pub(crate) const OPERATORS: &[&[Operator]] =
            &[activations::ALL, attention::ALL, conv_transpose::ALL, einsum::ALL, quantize::ALL, resample::ALL, scatter::ALL, signal::ALL, svm::ALL, volumes::ALL, known::ALL, elu::ALL, extremes::ALL, ml::ALL, norms::ALL, prelu::ALL, recurrent::ALL, sub::ALL, top_k::ALL, &[pow::POW], $(&[$($file::$operator),*],)+];
    };
}

operators! {
    Input = input, "A value from outside.", [];
    Compare = compare, "Whether two numbers compare in a way: 1 or 0.", [EQUAL, GREATER, GREATER_OR_EQUAL, LESS, LESS_OR_EQUAL];
    CumSum = cum_sum, "The sums of each element and all before it along an axis.", [CUM_SUM];
    Div = div, "The quotient of two values, or of weights and a value.", [DIV];
    Unary = function, "A function of each element.", [ATAN, CEIL, COS, ERF, EXP, FLOOR, HARD_SWISH, LOG, MISH, RECIPROCAL, ROUND, SIN, SOFTPLUS, SOFTSIGN, SQRT, TAN];
    Logic = logic, "A function of truth values.", [AND, NOT, OR, XOR];
    LogSoftmax = log_softmax, "The element minus the logarithm of the sum of e^x along an axis.", [LOG_SOFTMAX];
    OneHot = one_hot, "1 along a new axis at the place that the element names, else 0.", [ONE_HOT];
    Reduce = reduce, "A reduction of axes.", [REDUCE_L1, REDUCE_L2, REDUCE_LOG_SUM, REDUCE_LOG_SUM_EXP, REDUCE_MAX, REDUCE_MEAN, REDUCE_MIN, REDUCE_PROD, REDUCE_SUM, REDUCE_SUM_SQUARE];
    Remainder = remainder, "The remainder of a quotient.", [MOD];
    Sign = compare, "−1, 0 or 1.", [SIGN];
    Where = choose, "One of two values, by a truth value.", [WHERE];
    Add = add, "The sum of two values, or of a value and weights; axes of length 1 are repeated.", [ADD];
    Affine = affine, "Each channel (axis 1) times a factor plus a term.", [BATCH_NORMALIZATION];
    ArgMax = arg_max, "The index of the greatest element along an axis.", [ARG_MAX, ARG_MIN];
    AveragePool = pool, "The mean of each window.", [AVERAGE_POOL, GLOBAL_AVERAGE_POOL, GLOBAL_MAX_POOL];
    Clip = clip, "The element, limited to bounds.", [CLIP];
    Concat = concat, "Values joined along an axis.", [CONCAT];
    Conv = conv, "A convolution over rows and columns.", [CONV];
    Dense = dense, "A product with a matrix along the last axis, and a bias.", [GEMM];
    Gelu = gelu, "x Φ(x).", [GELU];
    Imputed = imputed, "Another number where the element is not finite.", [];
    Lookup = lookup, "The row of weights that each element names.", [];
    Labels = labels, "The number that each place stands for.", [];
    LayerNorm = layer_norm, "Along all axes from one on: minus the mean, divided by the standard deviation, times weights, plus weights.", [LAYER_NORMALIZATION];
    LeakyRelu = leaky_relu, "The element where it is not below 0, else a factor times the element.", [LEAKY_RELU];
    MatMul = matmul, "The product of two matrices of values.", [MATMUL];
    MaxPool = pool, "The greatest of each window; padding is not counted.", [MAX_POOL];
    Mul = mul, "The product of two values, or of a value and weights; axes of length 1 are repeated.", [MUL];
    Normalizer = normalizer, "The element divided by the norm of its row.", [NORMALIZER];
    Neg = neg, "The negative.", [NEG];
    Pad = pad, "Zeros added before and after along each axis.", [PAD];
    Pick = pick, "Elements at known places along an axis.", [COMPRESS, DEPTH_TO_SPACE, EXPAND, GATHER, GATHER_ELEMENTS, GATHER_ND, REVERSE_SEQUENCE, SLICE, SPACE_TO_DEPTH, SPLIT, TILE];
    Relu = relu, "The greater of 0 and the element.", [RELU];
    Reshape = reshape, "The same elements along other axes.", [RESHAPE, FLATTEN, SQUEEZE, UNSQUEEZE];
    Sigmoid = sigmoid, "1 / (1 + e^−x).", [SIGMOID];
    Softmax = softmax, "e^x divided by the sum of e^x along an axis.", [SOFTMAX];
    Tanh = tanh, "The hyperbolic tangent.", [TANH];
    Trees = trees, "The sums of the leaves of decision trees.", [TREE_ENSEMBLE, TREE_ENSEMBLE_CLASSIFIER, TREE_ENSEMBLE_REGRESSOR];
    Transpose = transpose, "Axes in another order.", [TRANSPOSE];
    Whole = whole, "The nearest whole number of a sum of products.", [];
}

impl Kind {
    /// The operator's name in ONNX.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.def().name()
    }

    /// The number of its weights.
    #[must_use]
    pub fn weights(&self) -> usize {
        let parts = [WeightPart::Factors, WeightPart::Terms, WeightPart::Low, WeightPart::High];
        parts.iter().map(|part| self.def().part(*part).len()).sum()
    }
}

/// The operator with this name in a set.
pub(crate) fn operator(set: &str, name: &str) -> Option<&'static Operator> {
    let mut all = OPERATORS.iter().flat_map(|file| file.iter());
    all.find(|operator| operator.name == name && operator.set == set)
}

/// The names of all supported operators, in order, with their sets if these are not the standard
/// one.
pub(crate) fn supported() -> Vec<String> {
    let name =
        |of: &Operator| if of.set.is_empty() { of.name.into() } else { format!("{}.{}", of.set, of.name) };
    let mut names: Vec<String> = OPERATORS.iter().flat_map(|file| file.iter()).map(name).collect();
    names.sort_unstable();
    names
}
