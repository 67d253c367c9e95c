"""Builds the models beside this file: for each an ONNX file and an `.npz` with rows of its input.

Run by hand, with scikit-learn, skl2onnx, xgboost, lightgbm and onnxmltools; what it writes is in the repository.

    python tests/numerical/onnx/networks/classical/build.py
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import onnx
import xgboost
from onnxmltools import convert_lightgbm, convert_xgboost
from onnxmltools.convert.common.data_types import FloatTensorType
from skl2onnx import to_onnx
from skl2onnx.common.data_types import StringTensorType
from sklearn import ensemble, linear_model, naive_bayes, neighbors, neural_network, preprocessing, svm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

HERE = Path(__file__).parent
ROWS = 12
"""Rows of each input that are kept."""

OPSETS = {"": 18, "ai.onnx.ml": 3}
RANDOM = np.random.default_rng(7)


@dataclass(frozen=True)
class Data:
    """Rows of features and what a model shall say about them."""

    rows: Any
    targets: Any

    def with_gaps(self) -> Data:
        """The rows with a tenth of the features missing."""
        return Data(np.where(RANDOM.random(self.rows.shape) < 0.1, np.float32(np.nan), self.rows), self.targets)


def loaded(load: Callable[..., Any], features: int) -> Data:
    """Some features of a data set of scikit-learn."""
    rows, targets = load(return_X_y=True)
    return Data(rows[:, :features].astype(np.float32), targets)


IRIS, CANCER, DIABETES = loaded(load_iris, 4), loaded(load_breast_cancer, 8), loaded(load_diabetes, 6)
NUMBERS = RANDOM.integers(0, 4, (60, 3))
CODES = Data(NUMBERS, NUMBERS.sum(axis=1) % 3)
WORDS = Data(np.array(["red", "green", "blue", "grün"], object)[NUMBERS], np.array(["few", "some", "many"], object)[CODES.targets])


def scikit(model: Any, data: Data) -> tuple[Any, Data]:
    """A model of scikit-learn, as ONNX."""
    model.fit(data.rows, data.targets)
    if data.rows.dtype == object:
        return to_onnx(model, initial_types=[("rows", StringTensorType([None, data.rows.shape[1]]))], target_opset=OPSETS), data
    return to_onnx(model, data.rows[:1], target_opset=OPSETS), data


def boosted(convert: Callable[..., Any], model: Any, data: Data) -> tuple[Any, Data]:
    """A model of XGBoost or LightGBM, as ONNX."""
    model.fit(data.rows, data.targets)
    return convert(model, initial_types=[("rows", FloatTensorType([None, data.rows.shape[1]]))]), data


scaled, scaler = make_pipeline, preprocessing.StandardScaler
encoder = preprocessing.OneHotEncoder
MODELS: dict[str, Callable[[], tuple[Any, Data]]] = {
    "logistic": lambda: scikit(scaled(scaler(), linear_model.LogisticRegression()), CANCER),
    "perceptron": lambda: scikit(scaled(scaler(), neural_network.MLPClassifier((8,), max_iter=50, random_state=0)), IRIS),
    "neighbours": lambda: scikit(neighbors.KNeighborsClassifier(3), Data(IRIS.rows[::3], IRIS.targets[::3])),
    "bayes": lambda: scikit(naive_bayes.GaussianNB(), IRIS),
    "forest": lambda: scikit(ensemble.RandomForestClassifier(10, max_depth=4, random_state=0), IRIS),
    "forest_of_two": lambda: scikit(ensemble.RandomForestClassifier(8, max_depth=4, random_state=0), CANCER),
    "boosting": lambda: scikit(ensemble.GradientBoostingClassifier(n_estimators=8, random_state=0), CANCER),
    "boosting_regression": lambda: scikit(ensemble.GradientBoostingRegressor(n_estimators=8, random_state=0), DIABETES),
    "support_vectors": lambda: scikit(scaled(scaler(), svm.SVC(probability=True, random_state=0)), IRIS),
    "support_vector_regression": lambda: scikit(scaled(scaler(), svm.SVR()), Data(DIABETES.rows[:100], DIABETES.targets[:100])),
    "imputed": lambda: scikit(scaled(SimpleImputer(), scaler(), linear_model.Ridge()), DIABETES.with_gaps()),
    "codes": lambda: scikit(scaled(encoder(), linear_model.LogisticRegression()), CODES),
    "words": lambda: scikit(scaled(encoder(handle_unknown="ignore"), linear_model.LogisticRegression()), WORDS),
    "xgboost": lambda: boosted(convert_xgboost, xgboost.XGBClassifier(n_estimators=8, max_depth=3), CANCER.with_gaps()),
    "xgboost_of_three": lambda: boosted(convert_xgboost, xgboost.XGBClassifier(n_estimators=4, max_depth=3), IRIS),
    "lightgbm": lambda: boosted(convert_lightgbm, lightgbm.LGBMClassifier(n_estimators=5, verbose=-1), CANCER.with_gaps()),
}


def main() -> None:
    for name, build in MODELS.items():
        model, data = build()
        path = HERE / f"{name}.onnx"
        onnx.save(model, path)
        rows = data.rows[:: len(data.rows) // ROWS][:ROWS]
        np.savez_compressed(path.with_suffix(".npz"), rows=rows.astype(str) if rows.dtype == object else rows)
        print(f"{name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
