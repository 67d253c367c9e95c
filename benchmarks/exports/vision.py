"""Networks of torchvision and timm at random weights."""

from __future__ import annotations

from typing import Any

import timm
import torch
import torchvision
from exports.network import Builder, Network, image

BATCH = torch.export.Dim("batch", min=1, max=64)

CLASSIFIERS = (
    *("alexnet", "vgg11_bn", "resnet18", "resnet50", "resnext50_32x4d", "wide_resnet50_2", "densenet121", "googlenet", "inception_v3"),
    *("squeezenet1_1", "mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large", "mnasnet0_5", "shufflenet_v2_x0_5", "efficientnet_b0"),
    *("efficientnet_v2_s", "regnet_x_400mf", "regnet_y_400mf", "convnext_tiny", "swin_t", "swin_v2_t", "vit_b_32", "maxvit_t"),
)
"""Classifiers of torchvision."""

TIMM = (
    *("resnet26d", "resnest14d", "seresnet18", "ecaresnet26t", "res2net50_26w_4s", "dla34", "hrnet_w18_small", "dpn48b", "vovnet39a"),
    *(
        "ghostnet_100",
        "tinynet_e",
        "mobilenetv4_conv_small",
        "mobileone_s0",
        "efficientnet_lite0",
        "mixnet_s",
        "fbnetc_100",
        "hardcorenas_a",
    ),
    *("vit_tiny_patch16_224", "deit_tiny_patch16_224", "deit3_small_patch16_224", "beit_base_patch16_224", "cait_xxs24_224"),
    *("swin_tiny_patch4_window7_224", "swinv2_tiny_window8_256", "pvt_v2_b0", "twins_pcpvt_small", "coat_tiny", "crossvit_tiny_240"),
    *("convnext_atto", "convnextv2_atto", "convmixer_768_32", "mixer_s32_224", "gmlp_s16_224", "resmlp_12_224", "poolformer_s12"),
    *("edgenext_xx_small", "mobilevit_xxs", "mobilevitv2_050", "levit_128s", "efficientformer_l1", "efficientvit_b0", "efficientvit_m0"),
    *("repvgg_a0", "nfnet_l0", "nf_resnet26", "xcit_nano_12_p16_224", "volo_d1_224", "focalnet_tiny_srf", "davit_tiny", "gcvit_xxtiny"),
    *(
        "maxxvit_rmlp_nano_rw_256",
        "coatnet_pico_rw_224",
        "tiny_vit_5m_224",
        "fastvit_t8",
        "inception_next_tiny",
        "rdnet_tiny",
        "starnet_s1",
    ),
    *("hiera_tiny_224", "eva02_tiny_patch14_224", "vit_small_patch14_dinov2", "lambda_resnet26t", "halonet26t", "botnet26t_256"),
)
"""Networks of timm."""

_BLOCKS = 2
"""Blocks that are left of a long row of equal ones."""


def classifier(name: str) -> Network:
    """A classifier of torchvision, for batches of any size."""
    extra: dict[str, Any] = {"init_weights": True} if name in ("googlenet", "inception_v3") else {}
    module = torchvision.models.get_model(name, weights=None, num_classes=10, **extra).eval()
    size = {"inception_v3": (96, 128), "vit_b_32": (224, 224), "maxvit_t": (224, 224), "alexnet": (96, 96)}.get(name, (64, 96))
    decomposed = name in ("resnet18", "mobilenet_v3_small", "vit_b_32", "swin_t", "convnext_tiny")
    return Network(module, (image(*size, batch=2),), dynamic=({0: BATCH},), others=(image(*size, batch=3),), decomposed=decomposed)


def _shortened(name: str) -> Any:
    """A network of timm with few of each row of equal blocks."""
    module = timm.create_model(name, pretrained=False, num_classes=7).eval()
    for block in module.modules():
        if isinstance(block, torch.nn.Sequential) and len(block) > _BLOCKS and len({type(each) for each in block}) == 1:
            del block[_BLOCKS:-1]
    return module


def _runs(module: torch.nn.Module, height: int, width: int) -> bool:
    """Whether a network takes images of a size; one whose blocks are of several sizes does not run without some of them."""
    try:
        module(image(height, width, 2))
    except Exception:
        return False
    return True


def of_timm(name: str) -> Network:
    """A network of timm, for batches of any size."""
    module = _shortened(name)
    size = module.default_cfg.get("input_size", (3, 224, 224))[1:] if hasattr(module, "default_cfg") else (224, 224)
    fixed = module.default_cfg.get("fixed_input_size", False)
    smaller = (max(96, size[0] // 64 * 32), max(96, size[1] // 64 * 32))
    height, width = size if fixed or min(size) < 64 else smaller
    if not _runs(module, height, width):
        height, width = size
        module = module if _runs(module, height, width) else timm.create_model(name, pretrained=False, num_classes=7).eval()
    return Network(module, (image(height, width, 2),), dynamic=({0: BATCH},), others=(image(height, width, 3),))


class _Outputs(torch.nn.Module):
    """A detector, of which the list of dictionaries becomes one dictionary."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return self.module([x])[0]


def detector(name: str) -> Network:
    """A detector of torchvision, for one image."""
    sizes: dict[str, Any] = (
        {"min_size": 96, "max_size": 128} if "rcnn" in name or name in ("retinanet_resnet50_fpn", "fcos_resnet50_fpn") else {}
    )
    module = torchvision.models.get_model(name, weights=None, weights_backbone=None, num_classes=5, **sizes).eval()
    for part in module.modules():
        if hasattr(part, "score_thresh"):
            part.score_thresh = 0.0
    return Network(_Outputs(module).eval(), (torch.rand(3, 96, 128),), tolerance=2e-3)


def segmenter(name: str) -> Network:
    """A network of torchvision that segments images of any size."""
    module = torchvision.models.get_model(name, weights=None, weights_backbone=None, num_classes=4, aux_loss=False).eval()
    height, width = torch.export.Dim("height", min=32, max=512), torch.export.Dim("width", min=32, max=512)
    return Network(module, (image(64, 96),), dynamic=({2: height, 3: width},), others=(image(80, 72),))


def flow() -> Network:
    """RAFT, which finds the flow between two images."""
    module = torchvision.models.optical_flow.raft_small(weights=None).eval()

    class Steps(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return self.module(a, b, num_flow_updates=2)[-1]

    return Network(Steps().eval(), (image(128, 136), image(128, 136)), tolerance=5e-3)


def video(name: str) -> Network:
    """A classifier of torchvision for videos."""
    module = torchvision.models.get_model(name, weights=None, num_classes=5).eval()
    return Network(module, (torch.randn(1, 3, 8, 64, 64),))


NETWORKS: dict[str, Builder] = {
    **{name: (lambda name=name: classifier(name)) for name in CLASSIFIERS},
    **{f"timm_{name}": (lambda name=name: of_timm(name)) for name in TIMM},
    **{
        name: (lambda name=name: detector(name))
        for name in (
            *("ssdlite320_mobilenet_v3_large", "retinanet_resnet50_fpn", "fcos_resnet50_fpn", "fasterrcnn_mobilenet_v3_large_320_fpn"),
            *("fasterrcnn_resnet50_fpn", "maskrcnn_resnet50_fpn", "keypointrcnn_resnet50_fpn"),
        )
    },
    **{name: (lambda name=name: segmenter(name)) for name in ("fcn_resnet50", "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large")},
    **{name: (lambda name=name: video(name)) for name in ("r3d_18", "r2plus1d_18", "s3d")},
    "raft_small": flow,
}
"""Networks by name."""
