//! Every code, its sort and its texts: the one place that is reviewed when an error changes.
//!
//! A number keeps its meaning in all releases. Words in braces are places, which each error fills.
//! A code whose text is `{cause}` covers many cases about one kind of file or request.

use crate::{Entry, Kind, text::place};
use std::fmt::Write;

macro_rules! table {
    ($($number:literal $constant:ident $kind:ident $name:literal
        $text:literal
        $remedy:literal)*) => {
        /// The codes.
        pub mod code {
            use crate::Code;
            $(
                #[doc = concat!($name, ".")]
                pub const $constant: Code = Code($number);
            )*
        }

        /// All codes in their order.
        pub const TABLE: &[Entry] = &[$(
            Entry { code: code::$constant, kind: Kind::$kind, name: $name, text: $text, remedy: $remedy },
        )*];
    };
}

/// Headings of the page, each before the first code of its hundred.
const GROUPS: [(u16, &str); 11] = [
    (0, "Any command"),
    (1, "The network and the other members"),
    (2, "Protocols"),
    (3, "Files and values"),
    (4, "Jobs and members"),
    (5, "Circuits and computations"),
    (6, "Queries"),
    (7, "Models"),
    (8, "Intersections"),
    (9, "Encryption, keys and preprocessing"),
    (10, "The service and its sealed data"),
];

table! {
    1 BUG Internal "A bug"
        "{cause}"
        "{remedy}"
    2 COMMAND_LINE Usage "A command line that makes no sense"
        "{cause}"
        ""
    3 REQUEST Usage "A request that makes no sense"
        "{cause}"
        "{remedy}"
    4 UNSAFE Refused "It would not be safe"
        "{cause}"
        "{remedy}"
    5 PROCESS Network "A process of a local run ended"
        "{cause}"
        "{remedy}"
    6 CHECK Network "A check of doctor failed"
        "{cause}"
        "{remedy}"
    7 CANCELLED Usage "The program cancelled the run"
        "{cause}"
        "{remedy}"

    101 CLOSED Network "A peer closed the link"
        "{peer}: closed the link during {step}: its process ended or dropped the session"
        "read its own error"
    102 DIED Network "A peer died"
        "{peer}: died during {step}: {how}"
        "see its own log and its host, then start again"
    103 TOLD_DIED Network "A member died, as another reports"
        "{peer}: {why} during {step}, as {by} says"
        "see its own log and its host, then start again"
    104 TOLD_ABSENT Network "A member did not come, as another reports"
        "{peer}: {why} during {step}, as {by} says"
        "start it, and see that its address is right and no firewall is between"
    105 TOLD_REFUSED Network "A member refused another"
        "{peer}: {why} during {step}, as {by} says"
        "read the error of {peer}; if its key was rotated, let all others list its new pin"
    106 TOLD_DECLINED Network "A member does not allow this job"
        "{peer}: {why} during {step}, as {by} says"
        "ask its operator to allow this job, by the digest that `hushwire job digest` prints"
    107 TOLD_EXCUSE Network "A member failed for a reason of its own"
        "{peer}: failed during {step}, as {by} says: {why}"
        "read its own output, which says more, or ask its operator"
    108 TOLD_FAILED Network "A member failed, as another reports"
        "{peer}: {why} during {step}, as {by} says"
        "read the error of {peer}"
    110 BLAMED_UNHEARD Network "A peer does not hear this party"
        "{peer}: ended the session during {step}: it says that this party {why}"
        "see whether this process was stopped, its host overloaded or the network between them cut"
    111 BLAMED_REFUSED Network "A peer refuses this party"
        "{peer}: ended the session during {step}: it says that this party {why}"
        "read its error, and compare pins, keys and jobs of both: after `hushwire keys rotate`, let all others list the new pin"
    112 BLAMED_DUPLICATE Network "A peer met another process of this party"
        "{peer}: ended the session during {step}: it says that this party {why}"
        "end all processes of this party but one and start again"
    113 BLAMED_CHEATED Network "A peer says that this party deviated from the protocol"
        "{peer}: ended the session during {step}: it says that this party {why}"
        "read its error, and run the same release everywhere"
    114 BLAMED_FAILED Network "A peer says that this party failed"
        "{peer}: ended the session during {step}: it says that this party {why}"
        "read its error"
    115 STALLED Network "A peer stalled"
        "{peer}: stalled during {step}: no byte moved for {after}"
        "see whether it still runs, or raise the stall limit"
    116 SLOW Network "A link is too slow"
        "{peer}: too slow during {step}: {moved} of {bytes} bytes moved in {after}"
        "see the network between the hosts, or raise the stall limit"
    117 LINK Network "A link failed"
        "{peer}: link failed during {step}: {cause}"
        "see the network between the hosts and start again"
    118 TLS Network "TLS failed"
        "{peer}: TLS failed during {step}: {cause}"
        "see that both sides run the same release and transport"
    119 UNLISTED Network "A peer lists another pin for this party"
        "{peer}: refuses our certificate during handshake: it lists another pin for this party"
        "let it list our pin, {own}"
    120 EXPIRED Network "A certificate does not hold today"
        "{peer}: certificate refused during handshake: {what}"
        "run `hushwire keys rotate` there and give the others the new pin, or set the clocks right"
    121 DIFFERS Network "The members do not run the same"
        "{peer}: {field} differs during handshake: ours is {ours}, theirs is {theirs}"
        "give both parties the same job and release"
    122 DUPLICATE Network "A member was started twice"
        "{peer}: refused during handshake: {what}"
        "end all of its processes but one and start again"
    123 ANOTHER_KEY Network "A peer has another key than the pinned one"
        "{peer}: presents another key than the pinned one during {step}: its pin is {presented}"
        "ask there, over another channel, whether `hushwire keys pin` prints that, and correct the pin of {peer} if its key was rotated"
    124 UNKNOWN_KEY Network "A stranger's key"
        "{peer}: unknown during {step}: {presented} is not listed"
        "if a member's key was rotated and it confirms this pin, list it for that member"
    125 UNKNOWN Network "A stranger"
        "{peer}: unknown during {step}: {presented} is not listed"
        "add its pin if it belongs here"
    126 OTHER_USER Network "A process of another user"
        "{peer}: refused during {step}: {cause}"
        "run the parties of one host as one user, or use tcp-tls"
    127 MALFORMED Network "A malformed message"
        "{peer}: sent a malformed message during {msg}: {what}"
        "run the same release everywhere"
    128 DEVIATED Network "A party deviated from the protocol"
        "{peer}: deviated from the protocol during {step}: {what}"
        "nothing of this run may be used; find out why before another"
    129 FORKED Usage "A session in a forked process"
        "this process is a fork of process {opened_by}, which opened the session, during {step}: the same masks would hide different values in both"
        "open a new session in this process, and go on with the old one in the other"
    130 LISTEN Network "A port or socket cannot be had"
        "cannot listen on {address}: {cause}"
        "{remedy}"
    131 DESCRIPTORS Network "Too many open files"
        "this process has too many open files during {step}: {cause}"
        "allow it more (`ulimit -n` in the shell that starts it)"
    132 REFUSES_CONNECTIONS Network "Nobody listens at a peer's address"
        "{peer}: unreachable at {address} during connect: {cause}"
        "start it, or see its own output for why it ended, and correct the address if it listens elsewhere"
    133 UNREACHABLE Network "A peer cannot be reached"
        "{peer}: unreachable at {address} during connect: {cause}"
        "see that it runs, that the address is right and that no firewall is between"
    134 ABSENT_SEEN Network "Members did not come, and it is known why"
        "{peers}: did not come within {after} during connect: {cause}"
        "start the members that do not run, or see their own output for why they ended"
    135 ABSENT Network "Members did not come"
        "{peers}: did not come within {after} during connect: {cause}"
        "start the members that do not run, and see that addresses are right and no firewall is between"
    136 LANE Network "A lane that is not free"
        "{peer}: no free lane {lane} during channel set-up: {cause}"
        "take each lane once, below the agreed number"
    137 DROPPED Network "A channel that failed before"
        "{peer}: channel is closed during {step}: an earlier step on it failed"
        "read the first error"
    138 LOST Network "A machine whose run failed before"
        "{what}"
        "read the first error"
    139 MISSTEP Network "A call out of turn"
        "{what}"
        "bring a machine the buffers that its round declares"
    140 SESSION Usage "A configuration that does not fit the session"
        "{peer}: bad configuration during connect: {what}"
        "correct the configuration"
    141 ANOTHER_PLAN Network "The members have different plans"
        "{peer} has another plan, which differs in {fields}"
        "give every member the same job file, circuit and release"
    142 SWAPPED Network "Two keys that were exchanged"
        "{cause}"
        "{remedy}"
    143 DISAGREE Network "Members say different things"
        "{cause}"
        "{remedy}"
    144 DEVIATED_CLIENT Network "A client gave different shares of its inputs"
        "{cause}"
        "{remedy}"

    201 OT_CHECK Network "A check of the oblivious transfers failed"
        "{peer}: the {check} check failed: the peer deviated from the protocol, or its messages were changed"
        "nothing of this batch may be used; set up a new session"
    202 OT_MALFORMED Network "A malformed message of oblivious transfer"
        "{peer}: message {message} is malformed: {what}"
        "run the same release at both sides"
    203 OT_LEVEL Usage "A protocol of oblivious transfer without that security"
        "{protocol} is not a {wanted} protocol"
        "take one of {known}"
    204 OT_NAME Internal "No such protocol of oblivious transfer"
        "no OT protocol is called {name}"
        "take one of {known}"
    205 OT_LOST Internal "An end of oblivious transfer that failed before"
        "{step}: this end of the OTs is lost, because a call before failed or was dropped unfinished"
        "set up a new session"
    206 OT_UNVERIFIED Internal "Outputs of oblivious transfer without their check"
        "these outputs are not verified yet"
        "run verify after the extension that made them"
    211 YAO_MALFORMED Network "A malformed message of a garbled circuit"
        "{peer}: {message} is malformed: {what}"
        "run the same release at both sides"
    212 YAO_DIFFERS Network "Different terms of a garbled circuit"
        "{peer}: {what} differ from ours"
        "give both parties the same values"
    213 YAO_SHORT Internal "Garbled tables that end early"
        "the garbled tables end early: {wanted} bytes are needed and {left} are left"
        "evaluate with the circuit that was garbled"
    214 YAO_SCHEME Usage "A garbling scheme that cannot do it"
        "scheme {scheme} {what}"
        "take one of {known}"
    215 YAO_NAME Internal "No such garbling scheme"
        "no garbling scheme is called {name}"
        "take one of {known}"
    216 YAO_GATES Internal "A circuit whose gates cannot be read"
        "the circuit cannot be read: {cause}"
        "see whether its file is whole"
    221 GMW_DIFFERS Network "Different runs of GMW"
        "{peer}: runs another circuit, other roles, another number of instances or another run of the session"
        "give both parties the same job"
    222 GMW_INPUTS Internal "Inputs of another size under GMW"
        "this party's inputs: found {found} planes, expected {expected}"
        "bring a plane for every bit of its inputs"
    223 GMW_LOST Internal "A party of GMW that failed before"
        "this party is lost, because a run before failed"
        "set up a new session"
    231 AUTH_CHECK Network "A check of authenticated garbling failed"
        "{peer}: the {check} check failed: a party deviated from the protocol, or messages were changed"
        "nothing of this session may be used; find out who deviated before a new one"
    232 AUTH_MALFORMED Network "A malformed message of authenticated garbling"
        "{peer}: message {message} is malformed: bits are set past its last"
        "run the same release at all parties"
    233 AUTH_DIFFERS Network "Different runs of authenticated garbling"
        "{peer}: runs another circuit, other roles, another number of instances or another run"
        "give all parties the same job"
    234 AUTH_INPUTS Internal "Inputs of another size under authenticated garbling"
        "this party's inputs: found {found} planes, expected {expected}"
        "bring a plane for every bit of its inputs"
    235 AUTH_SHORT Internal "Too little preprocessing"
        "the preprocessing holds {found} {what} where this run takes {expected}"
        "preprocess for as many ANDs and inputs as will run"
    236 AUTH_MISSTEP Network "A call of authenticated garbling out of turn"
        "{what}"
        "run the same release at all parties"
    241 TWO_DIFFERS Network "Different computations of two parties"
        "{peer}: runs another computation, other owners or another run of the session"
        "give both parties the same job"
    242 TWO_INPUTS Internal "Inputs that are not those of the plan"
        "this party's inputs: found {found} values, expected {expected}"
        "bring a value for each of its inputs, as the plan has them"
    243 TWO_INPUT Internal "An input of another type than in the plan"
        "this party's input {place} has another type or other lengths than the plan"
        "bring a value for each of its inputs, as the plan has them"
    244 TWO_RESULTS Usage "Too many results under encryption"
        "layers under encryption open {found} results, and a session at most {most}"
        "run fewer images in a session, or take products by OT"
    245 TWO_MEMORY Usage "A run that takes too much memory"
        "it takes up to {takes} of memory at each party, and may take {may}"
        "bring fewer rows, or allow more memory"
    246 TWO_ORDER Network "Shares that are no order of rows"
        "{peer}: says shares of places that are no order of rows"
        "run the same release at both parties"
    247 TWO_LOST Internal "A party of a computation that failed before"
        "this party is lost, because a run before failed"
        "set up a new session"
    248 TWO_CANCELLED Internal "A run that its caller cancelled"
        "the caller cancelled the run"
        "set up a new session"
    249 TWO_LAYER Network "A malformed message of a layer under encryption"
        "{peer}: {cause}"
        "compute layers by OT (linear = \"ot\", --linear ot), or take another ring (--bits)"
    250 TWO_NOISE Usage "A layer that encryption cannot compute"
        "{cause}"
        "compute layers by OT (linear = \"ot\", --linear ot), or take another ring (--bits)"

    301 READ File "A file cannot be read"
        "{cause}"
        "{remedy}"
    302 WRITE File "A file cannot be written"
        "{cause}"
        "{remedy}"
    303 FILE File "A file cannot be used"
        "{cause}"
        "{remedy}"
    304 TAKEN Refused "A file in the place of an output"
        "{cause}"
        "{remedy}"
    305 PRIVATE Refused "Others may read or change a private file"
        "{cause}"
        "{remedy}"
    306 VALUES File "Values that do not fit"
        "{cause}"
        "{remedy}"
    307 PLACES Usage "Inputs and outputs that do not fit the job"
        "{cause}"
        "{remedy}"

    401 JOB_FILE File "A file in TOML that cannot be used"
        "{cause}"
        "{remedy}"
    402 JOB Usage "A job that makes no sense"
        "{cause}"
        "{remedy}"
    403 NOT_ALLOWED Refused "A job that this member does not allow"
        "{cause}"
        "{remedy}"
    404 ALLOWED_FILE File "A list of allowed jobs that cannot be read"
        "{cause}"
        "{remedy}"
    405 MEMBER Usage "A member that does not fit the job"
        "{cause}"
        "{remedy}"
    406 REVEALS Refused "A protocol that would reveal what the job hides"
        "{cause}"
        "{remedy}"
    407 ABORTED Refused "A run that was decided against"
        "{cause}"
        "{remedy}"
    408 DATA_SET File "A data set that the job cannot take"
        "{cause}"
        "{remedy}"
    409 DATA_SET_DIFFERS Refused "Parties keep different shares of a data set"
        "{cause}"
        "{remedy}"
    410 SEALED_DIFFERS Refused "A sealed share that is not the one of the run"
        "{cause}"
        "{remedy}"
    411 PARAMETER Usage "A parameter's value that the job does not take"
        "{cause}"
        "{remedy}"

    501 CIRCUIT Usage "A circuit that does not fit the job"
        "{cause}"
        "{remedy}"
    502 COMPUTATION Usage "A computation that does not fit the job"
        "{cause}"
        "{remedy}"
    503 COMPUTATION_FILE File "A computation that cannot be read"
        "{cause}"
        "{remedy}"

    601 QUERY Usage "A query that cannot be run"
        "{cause}"
        "{remedy}"
    602 ROWS File "Rows that do not fit their table"
        "{cause}"
        "{remedy}"
    603 SYNTAX Usage "A query that is not SQL"
        "{cause}"
        "correct it there"
    604 STATEMENT Usage "A text that is not one query"
        "{cause}"
        "write one SELECT"
    605 TABLE_UNKNOWN Usage "A table that does not exist"
        "no table is called {table}"
        "{remedy}"
    606 COLUMN_UNKNOWN Usage "A column that does not exist"
        "no column is called {column}"
        "{remedy}"
    607 COLUMN_AMBIGUOUS Usage "A column of several tables"
        "{column} may be a column of several tables"
        "write it as table.column"
    608 COLUMN_UNGROUPED Usage "A column that no group has"
        "{column} is neither in GROUP BY nor in an aggregate"
        "group by it, or write MIN or MAX of it"
    609 NAME_TWICE Usage "A name that is given twice"
        "two {things} are called {name}"
        "give one of them another name"
    610 SQL_UNSUPPORTED Usage "A part of SQL that is not supported"
        "{clause} is not supported"
        "{remedy}"
    611 FUNCTION_UNSUPPORTED Usage "A function that is not supported"
        "the function {function} is not supported"
        "take one of the functions that docs/sql.md lists"
    612 OPERATOR_UNSUPPORTED Usage "An operator that is not supported"
        "the operator {operator} is not supported"
        "write the query without it"
    613 TYPE_UNSUPPORTED Usage "A type that is not supported"
        "the type {type} is not supported"
        "take one of the types that docs/sql.md lists"
    614 OPERANDS Usage "Operands of the wrong type"
        "{operation}: {operands}"
        "{remedy}"
    615 TYPES_DIFFER Usage "Values without a common type"
        "{left} and {right} have no common type in {place}"
        "{remedy}"
    616 TOO_MANY_DIGITS Usage "A result that may have too many digits"
        "{operation}: {operands}, whose {result} may have more than {most} digits"
        "declare columns with fewer digits, or CAST one to INTEGER, DOUBLE or a DECIMAL of 18 digits at most if its values have no more: one that has is NULL"
    617 TYPE_TOO_NARROW Usage "A common type that does not hold all values"
        "{operation}: {operands}, which {type} does not hold"
        "CAST one to a type that has its values and that the other can be compared with, as BIGINT to INTEGER"
    618 NO_ORDER Usage "An order of digests"
        "{operation}: {operands}, and digests are equal or not and have no order"
        "declare the column as VARCHAR(n)"
    619 CONDITION Usage "A condition that is not a truth value"
        "the condition is {type}"
        "write a comparison"
    620 ARGUMENTS Usage "A call with the wrong number of arguments"
        "{function} with {found} arguments"
        "give it {expected}"
    621 VALUE Usage "A text that is not a value of its type"
        "{value} is no {type}"
        "write {form}"
    622 VALUE_TOO_LARGE Usage "A value that its type does not hold"
        "{value} is too large for {type}"
        "{remedy}"
    623 AGGREGATE_MISPLACED Usage "An aggregate where none is allowed"
        "an aggregate in {clause}"
        "{remedy}"
    624 WINDOW_MISPLACED Usage "A window function where none is allowed"
        "a window function where there can be none"
        "write it in the list, or in ORDER BY"
    625 SUBQUERY_ROWS Usage "A subquery with several rows in place of a value"
        "the subquery may have several rows in place of a value"
        "aggregate it, limit it to one row, or declare the key by which it has one"
    626 SUBQUERY_COLUMNS Usage "A subquery with several columns in place of a value"
        "the subquery has {found} columns in place of a value"
        "select one"
    627 WIDTHS_DIFFER Usage "Rows with different numbers of values"
        "{rows} have {left} and {right} values"
        "write the same number of values in both"
    628 QUERY_TOO_LARGE Usage "A query that is too large"
        "{cause}"
        "{remedy}"
    629 RELATION_TOO_LARGE Usage "An intermediate result with too many rows"
        "a relation of {rows} rows is too large"
        "filter and aggregate before, or give a bound"
    630 JOIN_UNBOUND Usage "A join of many rows with many"
        "both sides of a join on {keys} may have many rows of a key"
        "say that one side's key is unique, or give a bound for the pairs"
    631 GROUPS_ONLY Usage "Rows where only groups may be shown"
        "the query shows rows where only groups may be shown"
        "group by columns, or ask without a least size of groups"
    632 PROMISE_BROKEN Usage "Data that breaks a promise of the query"
        "a promise is broken, {promise}"
        "mend the data, or plan without it"
    633 ORDER_UNFAIR Usage "An order that would reveal hidden columns"
        "{operation}: its order leaves rows equal, and their places would reveal keys that the result does not show"
        "order by columns that no two rows share, or by all that are used of the rows; digests have no order, bring them as VARCHAR(n)"
    634 WHOLE_NUMBER Usage "A clause without its whole number"
        "{clause} takes a whole number"
        "write one"
    635 LIST_PLACE Usage "A place that the list of the query does not have"
        "{place} is no column of the list, which has {columns}"
        "write a place of the list, counted from 1, or a column"
    636 PAIRS_UNCOUNTABLE Usage "A join whose pairs cannot be counted"
        "a join of {left} rows with {right} may have more pairs than can be counted"
        "filter and aggregate before, or join by a unique key"
    641 TOO_MANY_ROWS File "More rows than were agreed"
        "part {part} has more rows than the {expected} that were agreed"
        "{remedy}"
    642 TOO_FEW_ROWS File "Fewer rows than were agreed"
        "part {part} has {found} of the {expected} rows that were agreed"
        "bring {expected} rows, or agree on a padded table"
    643 ROW_WIDTH File "A row with too many or too few values"
        "row {row} has {found} values for {expected} columns"
        "bring a value for each column"
    644 ROW_NULL File "A NULL where none is allowed"
        "row {row} is NULL in {column}"
        "agree that the column may be NULL"
    645 ROW_VALUE File "A value that its column does not hold"
        "row {row} has a value in {column} that the column does not hold"
        "agree on a wider type or range"
    646 PART_UNKNOWN File "Rows of a table that the query does not read"
        "{cause}"
        "{remedy}"
    647 COLUMN_WITHOUT_TYPE File "A number that no type of a column holds"
        "it is no number below 2^63, which the widest DOUBLE holds, and all others of the column are numbers"
        "mend the file, where NULL stands for no number, or declare the column in a schema: VARCHAR(n) keeps the text"

    701 MODEL Usage "A model that does not fit the job"
        "{cause}"
        "{remedy}"
    702 MODEL_FILE File "A model, or data for it, that cannot be used"
        "{cause}"
        "{remedy}"
    703 ONNX File "A file that is not an ONNX model"
        "{cause}"
        "check that it is a whole ONNX file"
    704 NUMPY File "A file that is not an array of NumPy"
        "{cause}"
        "{remedy}"
    705 OPSET File "A model with an unsupported set of operators"
        "its operators are of set {opset}"
        "export it with an opset from {least} to {most}"
    706 OPERATORS_UNSUPPORTED File "A model with unsupported operators"
        "it has operators that are not supported: {operators}"
        "write it with {known}"
    707 ATTRIBUTE_UNSUPPORTED File "An operator with an unsupported attribute"
        "its attribute {attribute} is not supported"
        "{remedy}"
    708 OPERATOR File "An operator of a model that cannot be used"
        "{cause}"
        "{remedy}"
    709 INPUT_OPEN File "A model that leaves the shape of its input open"
        "its length {length} is open"
        "give an input, or the shape with --shape"
    710 SHAPE File "An array of another shape than the network takes"
        "it has the shape {found}, and the network takes {expected}"
        "{remedy}"
    711 NOT_FINITE File "An element that is not a finite number"
        "element {element} is not finite"
        "correct it"
    712 ELEMENT_TOO_LARGE File "An element that its type does not hold"
        "element {element} does not fit {type}"
        "prepare inputs as the network was trained with"
    713 LAYER_TOO_LARGE File "A layer whose values are too large for the numbers"
        "its values reach {greatest}, and {frac} fractional bits leave room for {room}"
        "take more bits, or fewer fractional ones (--bits, --frac)"
    714 LAYER_NOT_FINITE File "A layer whose values are not finite"
        "its values are not finite on the calibration inputs"
        "train the model again"
    715 WEIGHT_TOO_LARGE File "A weight that the numbers do not hold"
        "a weight, {weight}, does not fit {bits} bits"
        "take more bits (--bits), or calibrate with inputs that the network sees"
    716 OUTPUTS File "A model with several outputs"
        "it has {found} outputs: {outputs}"
        "export it with the one that the client is to learn"
    717 LABELS File "Labels for another number of classes"
        "there are {found} for {classes} classes"
        "write one label a line, in the model's order"
    718 NETWORK_UNKNOWN Usage "A published network that does not exist"
        "no network is called {network}"
        "take one of {known}"

    801 INTERSECTION Usage "An intersection that makes no sense"
        "{cause}"
        "{remedy}"
    811 SET_TERMS Usage "The parties ask for different intersections"
        "{peer}: asks for another intersection: the circuit, the protocol, the scheme or the result to reveal differs, or both are the same side"
        "give both parties the same options, and one of them side a"
    812 SET_TOO_LARGE Usage "A set that is too large for this machine"
        "{whose} {count} different keys, and {what} takes {most} at most"
        "{remedy}"
    813 SET_TOO_MANY Usage "A set with more keys than were agreed"
        "{whose} has {count} different keys and {others} {other}, and {bound}"
        "agree on `most-items` (--most-items) if a set is meant to be so large"
    814 SET_SALT Network "Keys that were chosen to collide"
        "no salt out of {tried} fits both sets, which happens by chance in no lifetime: the keys of a party were chosen to collide"
        "look for odd keys among those of both parties"
    815 SET_MALFORMED Network "A malformed message of an intersection"
        "{peer}: message {message} is malformed: {what}"
        "run the same release at both sides"
    816 SET_RANDOM Internal "No random bytes"
        "drawing random bytes: {cause}"
        "see the system's log"
    817 SET_OUTPUT Network "A result of an intersection that cannot be written"
        "writing the result: {cause}"
        "see the system's log about that file or device"
    818 SET_CHECK Network "A check of an intersection failed"
        "{peer}: the {check} check failed: the peer deviated from the protocol, or its messages were changed"
        "nothing of this run may be used; find out why before another"
    819 SET_STORE Internal "Items that have no store"
        "no store holds the items under this session's name, which happens by chance in no lifetime"
        "run again: a new session has a new name"
    821 QUERIED Network "The owner of a list does not answer"
        "{cause}"
        "{remedy}"

    901 KEY Refused "A key that is not for this use"
        "{cause}"
        "{remedy}"
    902 ENCRYPTION Usage "An encryption that makes no sense"
        "{cause}"
        "{remedy}"
    903 SHARE Refused "A share that others may read or change"
        "{cause}"
        "{remedy}"
    904 DEVICE_MISSING File "A device that cannot be started"
        "{cause}"
        "{remedy}"
    905 DEVICE_MISUSE Internal "A device that was used wrongly"
        "{cause}"
        "{remedy}"
    906 DEVICE Network "A device failed"
        "{cause}"
        "{remedy}"
    911 SHELF_USED File "Preprocessing that was used before"
        "{path}: this preprocessing was used before, and may not be used again"
        "delete that file"
    912 SHELF_GONE File "Preprocessing that is not there any more"
        "{path}: this preprocessing is not there any more: another run took it meanwhile"
        "run again"
    913 SHELF_FOREIGN File "Preprocessing that this key does not open"
        "{path}: this is no preprocessing under this key, or it was changed"
        "delete that file, or put back the private key under which it was made"
    914 SHELF_VERSION File "Preprocessing of another release"
        "{path}: another release made this preprocessing"
        "delete that file, and prepare again"
    915 SHELF_PARTY File "Preprocessing of another party"
        "{path}: {found} garbled it, and {expected} asks for it"
        "keep each file of preprocessing under the name that it was made with"
    916 SHELF_CIRCUIT File "Preprocessing of another circuit"
        "{path}: another circuit was garbled, or other roles or instances"
        "keep each file of preprocessing under the name that it was made with"
    917 SHELF_IO File "A directory of preprocessing that cannot be used"
        "{path}: {cause}"
        "check that the directory of preprocessing exists and can be written to"
    918 STOCK File "Preprocessing that cannot be used"
        "{cause}"
        "{remedy}"

    1001 SEAL_FORMAT File "A sealed file that cannot be read"
        "{what} cannot be read: {cause}"
        "get it anew from whoever made it, written by this release"
    1002 SEAL_CHANGED Refused "Sealed bytes that do not open"
        "{what} does not open: it was changed, or it is for another key or place"
        "get it anew; if it does not open then, ask whoever sent it which key it is for"
    1003 SEAL_SIGNATURE Refused "A signature that does not hold"
        "the signature of {what} is not one by the key {key}"
        "get it anew from its signer, and use nothing of it before"
    1004 SEAL_KEY File "A key that cannot be used"
        "{what} cannot be used: {cause}"
        "name the file that `hushwire service key init` wrote, or make a new one"
    1005 SEAL_OTHER_KEY File "A result for another key"
        "it is sealed to {key}, which is not in this file of keys"
        "use the file that has this key; a rotation keeps old keys in it"
    1006 SEAL_DATA Usage "A data set that makes no sense"
        "{cause}"
        "{remedy}"
    1020 POLICY_FILE File "A policy that makes no sense"
        "{cause}"
        "{remedy}"
    1021 POLICY_DENIES Refused "A policy that denies a run"
        "{cause}"
        "{remedy}"
    1030 AUDIT_CHAIN Refused "An audit log that was changed"
        "{path}, line {line}: {cause}"
        "keep this file as it is, and compare it with the heads that the other parties recorded"
    1031 AUDIT_HEADS Refused "An audit log that the heads of others contradict"
        "{who} recorded the head {recorded} of this log, and it is not in it"
        "keep both logs as they are; entries were removed or replaced since {who} recorded that head"
    1040 SERVICE Network "A party of the service that does not answer"
        "{cause}"
        "{remedy}"
    1041 SERVICE_ANSWER Network "An answer of the service that makes no sense"
        "{party} answers what this release does not understand: {cause}"
        "see that {party} has the same release"
}

/// The list of all codes for the page on troubleshooting, in Markdown.
#[must_use]
pub fn page() -> String {
    let mut page = String::new();
    let mut group = None;
    for entry in TABLE {
        let hundred = entry.code.0 / 100;
        if group.replace(hundred) != Some(hundred) {
            let title = GROUPS.iter().find(|(number, _)| *number == hundred).map_or("", |(_, title)| title);
            // A string takes everything.
            let _ = write!(page, "\n## {title}\n");
        }
        let _ = write!(page, "\n### {}: {}\n\n{}\n", entry.code, entry.name, entry.explanation());
    }
    page
}

impl Entry {
    /// The text, the remedy and the exit code, for people who look the code up.
    #[must_use]
    pub fn explanation(&self) -> String {
        let code = self.kind.exit_code();
        let says =
            if self.text == "{cause}" { "The message says the cause".to_owned() } else { code_of(self.text) };
        let then = match self.remedy {
            "" => ".".to_owned(),
            "{remedy}" if self.text == "{cause}" => " and what to do.".to_owned(),
            "{remedy}" => ". The message says what to do.".to_owned(),
            remedy => format!(".\n\nWhat to do: {remedy}."),
        };
        format!("{says}{then} Exit code {code} ({}).", self.kind.name())
    }

    /// The names of the places in its texts.
    #[must_use]
    pub fn places(&self) -> Vec<&'static str> {
        let mut names = vec![];
        for template in [self.text, self.remedy] {
            let mut rest = template;
            while let Some((_, name, after)) = place(rest) {
                names.push(name);
                rest = after;
            }
        }
        names
    }
}

/// A template as it stands, in a monospaced font.
fn code_of(template: &str) -> String {
    format!("`{}`", template.replace('`', "'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;
    use std::collections::BTreeSet;

    #[test]
    fn codes_are_in_order_and_read_as_they_are_written() {
        assert!(TABLE.windows(2).all(|pair| pair[0].code < pair[1].code), "codes rise");
        for entry in TABLE {
            assert_eq!(entry.code.entry(), entry);
            assert_eq!(entry.code.to_string().parse(), Ok(entry.code));
            assert_eq!(entry.code.to_string().to_lowercase().parse(), Ok(entry.code));
            assert!(GROUPS.iter().any(|(number, _)| *number == entry.code.0 / 100), "{}", entry.code);
        }
        for none in ["HW0000", "HW", "", "HW+101", "XX0101", "101x", "é"] {
            assert!(none.parse::<Code>().is_err(), "{none}");
        }
        assert_eq!("101".parse(), Ok(code::CLOSED), "people leave the letters out");
    }

    #[test]
    fn names_and_anchors_are_unique() {
        let names: BTreeSet<_> = TABLE.iter().map(|entry| entry.name).collect();
        let anchors: BTreeSet<_> = TABLE.iter().map(Entry::anchor).collect();
        assert_eq!([names.len(), anchors.len()], [TABLE.len(); 2]);
        assert_eq!(code::OT_NAME.entry().anchor(), "hw0204-no-such-protocol-of-oblivious-transfer");
    }

    #[test]
    fn texts_are_clauses() {
        for Entry { code, text, remedy, name, .. } in TABLE {
            for clause in [text, remedy, name] {
                assert!(!clause.ends_with(['.', ';', ' ']) && !clause.contains("; {"), "{code}: {clause}");
                assert_eq!(clause.matches('{').count(), clause.matches('}').count(), "{code}: {clause}");
            }
            assert!(!text.is_empty() && !name.is_empty(), "{code}");
        }
    }
}
