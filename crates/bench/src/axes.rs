//! Axes of benchmarks: named values, the parameters of a row, and the grids that axes span.

use hushwire_aes::Backend;
use hushwire_garble::{Scheme, deferred::Order};
use hushwire_ot::{Level, Protocol};
use hushwire_rep3::Sbox;
use hushwire_wire::Shape;
use serde_json::Value;

/// A value of an axis, as reports have it.
pub(crate) trait AxisValue {
    /// The value in JSON.
    fn value(&self) -> Value;
}

macro_rules! axis_values {
    ($($type:ty: $value:ident => $json:expr;)*) => {
        $(impl AxisValue for $type {
            fn value(&self) -> Value {
                let $value = self;
                Value::from($json)
            }
        })*
    };
}

axis_values! {
    u8: n => *n;
    u32: n => *n;
    usize: n => *n;
    bool: is => *is;
    &str: text => *text;
    String: text => text.as_str();
    Value: value => value.clone();
    Shape: net => net.to_string();
    Backend: backend => backend.tier().name();
    Level: level => level.name();
    Order: order => order.name();
    Protocol: protocol => protocol.name();
    Sbox: sbox => sbox.name();
    Scheme: scheme => scheme.name();
}

/// Defines an axis of named values: an enum with `ALL`, and `name` for reports.
macro_rules! axis {
    ($(#[$about:meta])* $sight:vis enum $axis:ident {
        $($(#[$says:meta])* $value:ident = $name:literal,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        $sight enum $axis {
            $($(#[$says])* $value,)*
        }

        impl $axis {
            /// Every value, in the order of rows.
            #[allow(dead_code, reason = "not every grid goes over a whole axis")]
            $sight const ALL: [Self; [$($name),*].len()] = [$(Self::$value),*];

            /// The name in reports.
            #[must_use]
            $sight const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)*
                }
            }
        }

        impl $crate::axes::AxisValue for $axis {
            fn value(&self) -> serde_json::Value {
                self.name().into()
            }
        }
    };
}

/// The parameters of a point: `params!(self; n, net, type = self.kind)`. A key without a value is a
/// field.
macro_rules! params {
    (@value $point:ident $key:ident) => { $point.$key };
    (@value $point:ident $key:ident $value:expr) => { $value };
    ($point:ident; $($key:ident $(= $value:expr)?),* $(,)?) => {
        $crate::Params::new()$(.with(
            stringify!($key),
            $crate::axes::AxisValue::value(&params!(@value $point $key $($value)?)),
        ))*
    };
}

/// The points of a grid: `every!(n in SIZES, net in nets => Point { n, net })`. The last axis
/// varies fastest.
macro_rules! every {
    (@into $points:ident; => $point:expr) => { $points.push($point) };
    (@into $points:ident; $axis:pat in $values:expr $(, $more:pat in $others:expr)* => $point:expr) => {
        for $axis in $values {
            every!(@into $points; $($more in $others),* => $point);
        }
    };
    ($($axis:pat in $values:expr),* => $point:expr) => {{
        let mut points = vec![];
        every!(@into points; $($axis in $values),* => $point);
        points
    }};
}

pub(crate) use {axis, every, params};
