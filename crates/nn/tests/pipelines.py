"""Trains pipelines of scikit-learn, writes them as ONNX files by skl2onnx, and what ONNX Runtime
makes of some rows. DIR gets NAME.onnx, NAME.x.npy and NAME.K.npy for each output K. A line of
standard output for each pipeline: its name, and the names of its outputs."""

import sys
import warnings
from pathlib import Path

import numpy as np
import onnxruntime
from skl2onnx import to_onnx
from sklearn import cluster, datasets, decomposition, discriminant_analysis, ensemble, feature_selection
from sklearn import impute, linear_model, naive_bayes, neighbors, neural_network, preprocessing, svm, tree
from sklearn.pipeline import make_pipeline

warnings.filterwarnings("ignore")
out = Path(sys.argv[1])
ROWS = 8
SCALED = preprocessing.StandardScaler


def rows_of(data, columns=None):
    x, y = data
    return x[:, :columns].astype(np.float32), y


IRIS = rows_of(datasets.load_iris(return_X_y=True))
CANCER = rows_of(datasets.load_breast_cancer(return_X_y=True), 8)
SUGAR = rows_of(datasets.load_diabetes(return_X_y=True))
SEED = {"random_state": 0}
PIPELINES = {
    "logistic": (make_pipeline(SCALED(), linear_model.LogisticRegression()), IRIS),
    "two_classes": (make_pipeline(SCALED(), linear_model.LogisticRegression()), CANCER),
    "linear": (linear_model.LinearRegression(), SUGAR),
    "ridge": (make_pipeline(preprocessing.MinMaxScaler(), linear_model.Ridge()), SUGAR),
    "lasso": (make_pipeline(preprocessing.MaxAbsScaler(), linear_model.Lasso(alpha=0.1)), SUGAR),
    "poisson": (make_pipeline(SCALED(), linear_model.PoissonRegressor()), SUGAR),
    "gradient": (make_pipeline(SCALED(), linear_model.SGDClassifier(**SEED)), IRIS),
    "tree": (tree.DecisionTreeClassifier(max_depth=5, **SEED), IRIS),
    "tree_regressor": (tree.DecisionTreeRegressor(max_depth=5, **SEED), SUGAR),
    "forest": (ensemble.RandomForestClassifier(n_estimators=10, max_depth=4, **SEED), IRIS),
    "forest_regressor": (ensemble.RandomForestRegressor(n_estimators=10, max_depth=4, **SEED), SUGAR),
    "extra_trees": (ensemble.ExtraTreesClassifier(n_estimators=10, max_depth=4, **SEED), CANCER),
    "boosting": (ensemble.GradientBoostingClassifier(n_estimators=10, **SEED), IRIS),
    "boosting_regressor": (ensemble.GradientBoostingRegressor(n_estimators=10, **SEED), SUGAR),
    "bagging": (ensemble.BaggingClassifier(tree.DecisionTreeClassifier(max_depth=3), n_estimators=4, **SEED), IRIS),
    "adaptive": (ensemble.AdaBoostClassifier(n_estimators=5, **SEED), IRIS),
    "isolation": (ensemble.IsolationForest(n_estimators=5, max_samples=32, **SEED), IRIS),
    "vectors": (make_pipeline(SCALED(), svm.SVC()), IRIS),
    "vectors_probability": (make_pipeline(SCALED(), svm.SVC(probability=True, **SEED)), CANCER),
    "vectors_of_three": (make_pipeline(SCALED(), svm.SVC(probability=True, **SEED)), IRIS),
    "vectors_regressor": (make_pipeline(SCALED(), svm.SVR()), SUGAR),
    "linear_vectors": (svm.LinearSVC(**SEED), IRIS),
    "neighbours": (make_pipeline(SCALED(), neighbors.KNeighborsClassifier(3)), (IRIS[0][::5], IRIS[1][::5])),
    "naive_bayes": (naive_bayes.GaussianNB(), IRIS),
    "bernoulli": (naive_bayes.BernoulliNB(binarize=2.0), IRIS),
    "network": (make_pipeline(SCALED(), neural_network.MLPClassifier((8,), max_iter=200, **SEED)), IRIS),
    "network_regressor": (
        make_pipeline(SCALED(), neural_network.MLPRegressor(hidden_layer_sizes=(8,), max_iter=200, **SEED)),
        SUGAR,
    ),
    "components": (make_pipeline(SCALED(), decomposition.PCA(2), linear_model.LogisticRegression()), IRIS),
    "imputed": (make_pipeline(impute.SimpleImputer(), SCALED(), linear_model.LogisticRegression()), IRIS),
    "discriminant": (discriminant_analysis.LinearDiscriminantAnalysis(), IRIS),
    "means": (make_pipeline(SCALED(), cluster.KMeans(3, n_init=3, **SEED)), IRIS),
    "polynomial": (
        make_pipeline(preprocessing.MinMaxScaler(), preprocessing.PolynomialFeatures(2), linear_model.Ridge()),
        IRIS,
    ),
    "robust": (
        make_pipeline(preprocessing.RobustScaler(), preprocessing.Normalizer(), linear_model.LogisticRegression()),
        IRIS,
    ),
    "adaptive_regressor": (ensemble.AdaBoostRegressor(n_estimators=5, **SEED), SUGAR),
    "bins": (
        make_pipeline(preprocessing.KBinsDiscretizer(5, encode="onehot-dense"), linear_model.LogisticRegression()),
        IRIS,
    ),
    "categories": (
        make_pipeline(preprocessing.KBinsDiscretizer(4, encode="ordinal"), naive_bayes.CategoricalNB()),
        IRIS,
    ),
    "best": (make_pipeline(feature_selection.SelectKBest(k=2), linear_model.LogisticRegression()), IRIS),
}

for name, (model, (x, y)) in PIPELINES.items():
    model.fit(x, y)
    some = x[:: len(x) // ROWS][:ROWS]
    # Arrays in place of a dictionary for each row, where a model has probabilities.
    options = {id(model): {"zipmap": False}} if hasattr(model, "predict_proba") else None
    onnx = to_onnx(model, some[:1], options=options, target_opset={"": 18, "ai.onnx.ml": 3})
    data = onnx.SerializeToString()
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    made = session.run(None, {session.get_inputs()[0].name: some})
    names = [output.name for output in session.get_outputs()]
    (out / f"{name}.onnx").write_bytes(data)
    np.save(out / f"{name}.x.npy", some)
    told = []
    for k, (output, value) in enumerate(zip(names, made)):
        # The values of a dictionary for each row, in the order of classes.
        if isinstance(value, list):
            value = np.array([list(row.values()) for row in value])
        np.save(out / f"{name}.{k}.npy", np.asarray(value, dtype=np.float32))
        told.append(output)
    print(name, *told, sep="|")
