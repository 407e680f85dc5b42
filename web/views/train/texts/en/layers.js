// @ts-check
/** English texts of the Train view: the table of layers. */

export const texts = {
  trainLayers: "Layers",
  trainLayersLater: "Python is starting. Then the layers can be changed.",
  trainNetworkLater: "Loading…",
  trainLayerAdd: "Add a layer",
  trainLayerAddBelow: "Add a layer below",
  trainLayerUp: "Move up (Alt+↑)",
  trainLayerDown: "Move down (Alt+↓)",
  trainLayerRemove: "Remove this layer",
  trainKind: "Kind of layer",

  /** @type {Record<string, string>} */
  trainNetworks: {
    lenet5: "LeNet-5",
    mlp: "MLP",
    resnet: "Small ResNet",
    cnn: "Small CNN",
    head: "Head on features",
    chargpt: "Character GPT",
    own: "Your own",
  },

  /** @type {Record<string, string>} */
  trainKinds: {
    conv2d: "Convolution",
    avgpool2d: "Average pool",
    maxpool2d: "Max pool",
    globalpool: "Global average pool",
    residual: "Residual block",
    flatten: "Flatten",
    embedding: "Embedding",
    transformer: "Transformer block",
    linear: "Linear",
    relu: "ReLU",
    tanh: "Tanh",
    gelu: "GELU",
    batchnorm: "Batch norm",
    layernorm: "Layer norm",
    dropout: "Dropout",
  },

  /** @type {Record<string, string>} */
  trainFields: {
    out: "Outputs",
    kernel: "Window",
    stride: "Stride",
    padding: "Padding",
    size: "Window",
    width: "Width",
    heads: "Heads",
    p: "Share",
  },

  /** @param {string} shape */
  trainShape: (shape) => `gives ${shape}`,

  /** @param {string} count */
  trainParameters: (count) => `${count} parameters`,

  /** @param {string} parameters @param {string} memory @param {number} batch */
  trainTotal: (parameters, memory, batch) =>
    `${parameters} parameters; a step with a batch of ${batch} takes about ${memory}.`,
  trainImpossible: "One layer is impossible; see why at that layer.",

  trainReasons: {
    /** @param {number} classes */
    EMPTY: (classes) => `There is no layer; add one that gives ${classes} scores.`,

    /** @param {string} kind */
    UNKNOWN: (kind) => `There is no layer of the kind ${kind}.`,

    /** @param {string} kind @param {string} field */
    NO_FIELD: (kind, field) => `A layer of the kind ${kind} has no ${field}.`,

    /** @param {string} field @param {number} least @param {number} most */
    WHOLE: (field, least, most) => `${field} must be a whole number from ${least} to ${most}.`,

    /** @param {string} field @param {number} least @param {number} most */
    NUMBER: (field, least, most) => `${field} must be a number from ${least} to ${most}.`,

    /** @param {string} shape */
    PICTURE: (shape) => `It needs a picture (channels, height, width), but its input is ${shape}.`,

    /** @param {number} window @param {number} height @param {number} width */
    KERNEL: (window, height, width) =>
      `A window of ${window}×${window} is larger than the picture of ${height}×${width} with its padding.`,

    /** @param {string} shape */
    FLATTEN: (shape) =>
      `It needs a list of numbers, but its input is a picture of ${shape}; put Flatten before it.`,
    TOKENS: () => "It needs the characters of a text, so it must be a text's first layer.",
    EMBED: () => "A text is a list of characters; begin with an embedding.",

    /** @param {string} shape */
    SEQUENCE: (shape) =>
      `It needs a vector for each character, but its input is ${shape}; begin with an embedding.`,

    /** @param {number} heads @param {number} width */
    HEADS: (heads, width) => `${heads} heads do not divide the width of ${width}.`,
    NORM: () => "It is for pictures and lists of numbers; take a layer norm for a text.",

    /** @param {string} parameters @param {string} most */
    LARGE: (parameters, most) => `It has ${parameters} parameters; a layer may have ${most}.`,

    /** @param {string} shape @param {number} classes */
    CLASSES: (shape, classes) =>
      `The network must end with ${classes} scores, one for each class, but gives ${shape}.`,
  },
};
