"""The type constraints of the ONNX standard, for the operators that Tallow has; see type_check.py.

tests/onnx/read/made_types.py makes this file from the standard's schemas.
"""

# ruff: noqa: E501

SETS = """\
CILScdfhilost
CILSbcdfhilost
ILbdfhil
CILSbcdfhils
CILScdfhils
ILdfhil
CILNQRSbcdefghilnoqrst
CILNQRSWbcdefghilnoqrstw
CILNQRSbcdfghilnoqrst
CILNQRSbcdfhilnoqrst
[CILScdfhilost
CILQRSbcdfhiloqrst
CILSbcdfhilos
CILScdfhilos
CILScdfhilost/[CILScdfhilost
CILScils
CILbcdfhil
CQRcqr
QRbdfhqr
?CILScdfhilost/?[CILScdfhilost
CILNQRSWbcdefghilnoqrsw
CILNQRSWbcdefghilnoqrstw/?CILNQRSWbcdefghilnoqrstw/?[CILNQRSWbcdefghilnoqrstw/[CILNQRSWbcdefghilnoqrstw
CILNQRSWbcdefghilnoqrstw/?CILNQRSWbcdefghilnoqrstw/?[CILSbcdfhilost/[CILNQRSWbcdefghilnoqrstw
CILNQRSWbcdefghilnoqrstw/[CILNQRSWbcdefghilnoqrstw
CILNQRSbcdefghilnoqrst/?CILNQRSbcdefghilnoqrst/?[CILSbcdfhilost/[CILNQRSbcdefghilnoqrst
CILNQRSbcdfghilnoqrst/?CILNQRSbcdfghilnoqrst/?[CILSbcdfhilost/[CILNQRSbcdfghilnoqrst
CILNQRSbcdfhilnoqrst/?CILNQRSbcdfhilnoqrst/?[CILSbcdfhilost/[CILNQRSbcdfhilnoqrst
CILQRSbcdfhiloqrst/?CILQRSbcdfhiloqrst/?[CILSbcdfhilost/[CILQRSbcdfhiloqrst
CILSbcdfhilost/?CILSbcdfhilost/?[CILSbcdfhilost/[CILSbcdfhilost
CILScdfhilost/?CILScdfhilost/?[CILScdfhilost/[CILScdfhilost
CILbcdfhilo
CILcdfhil
CNQRScginqrs
CNQRScgnqrs
bcdfhils
bdfhil
dfilst
?CILNQRSWbcdefghilnoqrstw/?[CILNQRSWbcdefghilnoqrstw
CILNQRSWbcdefghilnoqrstw/?CILScdfhilost/?[CILScdfhilost/[CILScdfhilost
CILNQRSbcdefghilnoqrs
CILNQRSbcdefghilnoqrst/?CILScdfhilost/?[CILScdfhilost/[CILScdfhilost
CILNQRSbcdfghilnoqrs
CILNQRSbcdfghilnoqrst/?CILScdfhilost/?[CILScdfhilost/[CILScdfhilost
CILNQRSbcdfhilnoqrs
CILNQRSbcdfhilnoqrst/?CILScdfhilost/?[CILScdfhilost/[CILScdfhilost
CILQRSbcdfhiloqrs
CILQRSbcdfhiloqrst/?CILScdfhilost/?[CILScdfhilost/[CILScdfhilost
CILSbcdfhilost/?CILScdfhilost/?[CILScdfhilost/[CILScdfhilost
CILSbcdfhilost/[CILScdfhilost
CNQRSWcginqrsw
CNQRSWcgnqrsw
CNQRScinqrs
CNQRScnqrs
CQRciqr
Cbcdfh
ILdfil
[CILSbcdfhilost
bdfhils
cdfhils
dfhilo
"""
"""Sets of types, which TABLE calls by their number. Types have the codes of type_check.NAMES; "[" is
a sequence of the types that follow, "?" an optional, "/" separates."""

TABLE = """\
Abs 1 A>A dfh; 6 A>A 4; 13 A>A 3
Acos 7 A>A dfh; 22 A>A bdfh
Acosh 9 A>A dfh; 22 A>A bdfh
Add 1 AA>A dfh; 6 AA>A 5; 13 AA>A 2; 14 AA>A 3
AffineGrid 20 AB>A bdfh,l
And 1 AA>B o,o
ArgMax 1 A>B 4,l; 13 A>B 3,l
ArgMin 1 A>B 4,l; 13 A>B 3,l
Asin 7 A>A dfh; 22 A>A bdfh
Asinh 9 A>A dfh; 22 A>A bdfh
Atan 7 A>A dfh; 22 A>A bdfh
Atanh 9 A>A dfh; 22 A>A bdfh
Attention 23 AABCAB>AABA bdfh,bdfh,12; 24 AABCABD>AABA bdfh,bdfh,12,l
AveragePool 1 A>A dfh; 22 A>A bdfh
BatchNormalization 1 AAAAA>AAAAA dfh; 14 AAABB>ABB bdfh,bdfh; 15 ABBCC>ACC bdfh,bdfh,bdfh
Bernoulli 15 A>B dfh,12; 22 A>B bdfh,12
BitCast 26 A>B 20,20
BitShift 11 AA>A CILS; 28 AA>A 15
BitwiseAnd 18 AA>A 15
BitwiseNot 18 A>A 15
BitwiseOr 18 AA>A 15
BitwiseXor 18 AA>A 15
BlackmanWindow 17 A>B il,3
Cast 1 A>B 13,13; 9 A>B 0,0; 13 A>B 1,1; 19 A>B 11,11; 21 A>B 9,9; 23 A>B 8,8; 24 A>B 6,6; 25 A>B 7,7
CastLike 15 AB>B 1,1; 19 AB>B 11,11; 21 AB>B 9,9; 23 AB>B 8,8; 24 AB>B 6,6; 25 AB>B 7,7
CausalConvWithState 27 AAAA>AA bfh
Ceil 1 A>A dfh; 13 A>A bdfh
Celu 12 A>A f; 28 A>A bdfh
CenterCropPad 18 AB>A 1,il
Clip 1 A>A dfh; 11 AAA>A dfh; 12 AAA>A 4; 13 AAA>A 3
Col2Im 18 ABB>A 1,l
Compress 9 AB>A 0,o; 28 AB>A 1,o
Concat 1 A*>A dfh; 4 A*>A 0; 13 A*>A 1
ConcatFromSequence 11 A>B 10,0
Constant 1 >A dfh; 9 >A 0; 13 >A 1; 19 >A 11; 21 >A 9; 23 >A 8; 24 >A 6; 25 >A 7
ConstantOfShape 9 A>B l,13; 20 A>B l,45; 21 A>B l,43; 23 A>B l,41; 24 A>B l,39; 25 A>B l,20
Conv 1 AAA>A dfh; 22 AAA>A bdfh
ConvInteger 10 ABAB>C Cc,Cc,i
ConvTranspose 1 AAA>A dfh; 22 AAA>A bdfh
Cos 7 A>A dfh; 22 A>A bdfh
Cosh 9 A>A dfh; 22 A>A bdfh
CumProd 26 AB>A 2,il
CumSum 11 AB>A 55,il; 14 AB>A 2,il
DFT 17 AB>A bdfh,il; 20 ABC>A bdfh,il,l
DeformConv 19 AAAAA>A dfh; 22 AAAAA>A bdfh
DepthToSpace 1 A>A 0; 13 A>A 1
DequantizeLinear 10 ABA>B Cci,f; 19 ABA>B 53,bfh; 21 ABA>B 51,bfh; 23 ABA>C 32,bfh,bfh; 24 ABA>C 32,befh,bfh; 25 ABA>C 49,befh,bfh
Det 11 A>A dfh; 22 A>A bdfh
Div 1 AA>A dfh; 6 AA>A 5; 13 AA>A 2; 14 AA>A 3
Dropout 1 A>AA dfh; 10 A>AB dfh,o; 12 ABC>AC dfh,dfh,o; 13 ABC>AC bdfh,dfh,o; 22 ABC>AC 18,18,o
DynamicQuantizeLinear 11 A>BCB f,C,f
Einsum 12 A*>A 4; 28 A*>A 3
Elu 1 A>A dfh; 22 A>A bdfh
Equal 1 AA>B ilo,o; 11 AA>B 13,o; 13 AA>B 12,o; 19 AA>B 1,o
Erf 9 A>A 4; 13 A>A bdfh
Exp 1 A>A dfh; 13 A>A bdfh
Expand 8 AB>A 0,l; 13 AB>A 1,l
EyeLike 9 A>B 13,13; 22 A>B 12,12
Flatten 1 A>A dfh; 9 A>A 0; 13 A>A 1; 21 A>A 9; 23 A>A 8; 24 A>A 6; 25 A>A 7
Floor 1 A>A dfh; 13 A>A bdfh
GRU 1 AAAABA>AA dfh,i; 22 AAAABA>AA bdfh,i
Gather 1 AB>A 0,il; 13 AB>A 1,il
GatherElements 11 AB>A 0,il; 13 AB>A 1,il
GatherND 11 AB>A 0,l; 13 AB>A 1,l
Gelu 20 A>A bdfh
Gemm 1 AAA>A dfh; 9 AAA>A 5; 13 AAA>A 2
GlobalAveragePool 1 A>A dfh; 22 A>A bdfh
GlobalLpPool 1 A>A dfh; 22 A>A bdfh
GlobalMaxPool 1 A>A dfh; 22 A>A bdfh
Greater 1 AA>B dfh,o; 9 AA>B 4,o; 13 AA>B 3,o
GreaterOrEqual 12 AA>B 4,o; 16 AA>B 3,o
GridSample 16 AB>A 0,dfh; 22 AB>A 1,bdfh
GroupNormalization 21 AAA>A bdfh
HammingWindow 17 A>B il,3
HannWindow 17 A>B il,3
HardSigmoid 1 A>A dfh; 22 A>A bdfh
HardSwish 14 A>A dfh; 22 A>A bdfh
Hardmax 1 A>A dfh; 13 A>A bdfh
Identity 1 A>A 0; 13 A>A 1; 14 A>A 48; 16 A>A 47; 19 A>A 46; 21 A>A 44; 23 A>A 42; 24 A>A 40; 25 A>A 38
If 1 A>B+ o,0; 13 A>B+ o,14; 16 A>B+ o,28; 19 A>B+ o,27; 21 A>B+ o,26; 23 A>B+ o,25; 24 A>B+ o,24; 25 A>B+ o,22
ImageDecoder 20 A>B C,C
InstanceNormalization 1 AAA>A dfh; 22 AAA>A bdfh
IsInf 10 A>B df,o; 20 A>B 18,o
IsNaN 9 A>B dfh,o; 13 A>B bdfh,o; 20 A>B 18,o
LRN 1 A>A dfh; 13 A>A bdfh
LSTM 1 AAAABAAA>AAA dfh,i; 22 AAAABAAA>AAA bdfh,i
LayerNormalization 17 AAA>ABB bdfh,bf
LeakyRelu 1 A>A dfh; 16 A>A bdfh
Less 1 AA>B dfh,o; 9 AA>B 4,o; 13 AA>B 3,o
LessOrEqual 12 AA>B 4,o; 16 AA>B 3,o
LinearAttention 27 AAABAA>AB bfh,bfh
Log 1 A>A dfh; 13 A>A bdfh
LogSoftmax 1 A>A dfh; 13 A>A bdfh
Loop 1 ABC+>C+ l,o,0; 13 ABC+>C+ l,o,14; 16 ABC+>C+ l,o,28; 19 ABC+>C+ l,o,27; 21 ABC+>C+ l,o,26; 23 ABC+>C+ l,o,25; 24 ABC+>C+ l,o,24; 25 ABC+>C+ l,o,22
LpNormalization 1 A>A dfh; 22 A>A bdfh
LpPool 1 A>A dfh; 22 A>A bdfh
MatMul 1 AA>A dfh; 9 AA>A 5; 13 AA>A 2
MatMulInteger 10 ABAB>C Cc,Cc,i
Max 1 A*>A dfh; 12 A*>A 4; 13 A*>A 3
MaxPool 1 A>A dfh; 8 A>AB dfh,l; 12 A>AB Ccdfh,l; 22 A>AB 54,l
MaxUnpool 9 ABB>A dfh,l; 22 ABB>A bdfh,l
Mean 1 A*>A dfh; 13 A*>A bdfh
MeanVarianceNormalization 9 A>A dfh; 13 A>A bdfh
MelWeightMatrix 17 AAABB>C il,bdfh,3
Min 1 A*>A dfh; 12 A*>A 4; 13 A*>A 3
Mish 18 A>A dfh; 22 A>A bdfh
Mod 10 AA>A 4; 13 AA>A 3
Mul 1 AA>A dfh; 6 AA>A 5; 13 AA>A 2; 14 AA>A 3
Multinomial 7 A>B dfh,il; 22 A>B bdfh,il
Neg 1 A>A dfh; 6 A>A 58; 13 A>A 34
NegativeLogLikelihoodLoss 12 ABA>A dfh,il; 22 ABA>A bdfh,il
NonMaxSuppression 10 AABAA>B f,l
NonZero 9 A>B 0,l; 13 A>B 1,l
Not 1 A>A o
OneHot 9 ABC>C 4,4,0; 28 ABC>C 4,4,1
Optional 15 A>B 14,19; 28 A>B 23,37
OptionalGetElement 15 A>B 19,14; 18 A>B 29,14; 28 A>B 21,23
OptionalHasElement 15 A>B 19,o; 18 A>B 29,o; 28 A>B 21,o
Or 1 AA>B o,o
PRelu 1 AA>A dfh; 9 AA>A 5; 16 AA>A 2
Pad 1 A>A dfh; 11 ABA>A 4,l; 13 ABA>A 1,l; 18 ABAC>A 1,l,il; 21 ABAC>A 9,l,il; 23 ABAC>A 8,l,il; 24 ABAC>A 6,l,il; 25 ABAC>A 7,l,il
Pow 1 AA>A dfh; 12 AB>A dfhil,4; 13 AB>A 35,4; 15 AB>A 35,3
QLinearConv 10 ABACBCBDE>D Cc,f,Cc,Cc,i
QLinearMatMul 10 ABACBCBD>D Cc,f,Cc,Cc; 21 ABACBCBD>D 17,bfh,17,17
QuantizeLinear 10 ABC>C fi,f,Cc; 19 AAB>B bfhi,17; 21 AAB>B bfhi,52; 23 ABC>C bfhi,bfhi,33; 24 ABC>C bfhi,befhi,33; 25 ABC>C bfhi,befhi,50
RMSNormalization 23 AB>B bdfh,bdfh
RNN 1 AAAABA>AA dfh,i; 22 AAAABA>AA bdfh,i
RandomNormal 1 >A dfh; 22 >A bdfh
RandomNormalLike 1 A>B 0,dfh; 22 A>B 1,bdfh
RandomUniform 1 >A dfh; 22 >A bdfh
RandomUniformLike 1 A>B 0,dfh; 22 A>B 1,bdfh
Range 11 AAA>A dfils; 27 AAA>A 57
Reciprocal 1 A>A dfh; 13 A>A bdfh
ReduceL1 1 A>A 5; 13 A>A 2; 18 AB>A 2,l
ReduceL2 1 A>A 5; 13 A>A 2; 18 AB>A 2,l
ReduceLogSum 1 A>A 5; 13 A>A 2; 18 AB>A 2,l; 28 AB>A bdfh,l
ReduceLogSumExp 1 A>A 5; 13 A>A 2; 18 AB>A 2,l; 28 AB>A bdfh,l
ReduceMax 1 A>A 5; 12 A>A 31; 13 A>A 16; 18 AB>A 16,l; 20 AB>A 30,l
ReduceMean 1 A>A 5; 13 A>A 2; 18 AB>A 2,l
ReduceMin 1 A>A 5; 12 A>A 31; 13 A>A 16; 18 AB>A 16,l; 20 AB>A 30,l
ReduceProd 1 A>A 5; 13 A>A 2; 18 AB>A 2,l
ReduceSum 1 A>A 5; 13 AB>A 2,l
ReduceSumSquare 1 A>A 5; 13 A>A 2; 18 AB>A 2,l
RegexFullMatch 20 A>B t,o
Relu 1 A>A dfh; 13 A>A bdfh; 14 A>A 34
Reshape 1 A>A dfh; 5 AB>A 0,l; 13 AB>A 1,l; 19 AB>A 11,l; 21 AB>A 9,l; 23 AB>A 8,l; 24 AB>A 6,l; 25 AB>A 7,l
Resize 10 AB>A 0,f; 11 ABCD>A 0,dfh,f,l; 13 ABCD>A 1,dfh,f,l
ReverseSequence 10 AB>A 0,l; 28 AB>A 1,l
RoiAlign 10 AAB>A dfh,l; 22 AAB>A bdfh,l
RotaryEmbedding 23 AAAB>A bfh,l
Round 11 A>A dfh; 22 A>A bdfh
STFT 17 ABAB>A bdfh,il
Scan 8 AB+>B+ l,0; 9 A+>A+ 0; 16 A+>A+ 1; 19 A+>A+ 11; 21 A+>A+ 9; 23 A+>A+ 8; 24 A+>A+ 6; 25 A+>A+ 7
Scatter 9 ABA>A 0,il
ScatterElements 11 ABA>A 0,il; 13 ABA>A 1,il
ScatterND 11 ABA>A 0,l; 13 ABA>A 1,l
Selu 1 A>A dfh; 22 A>A bdfh
SequenceAt 11 AB>C 10,il,0
SequenceConstruct 11 A*>B 0,10
SequenceEmpty 11 >A 10
SequenceErase 11 AB>A 10,il
SequenceInsert 11 ABC>A 10,0,il
SequenceLength 11 A>B 10,l
SequenceMap 17 AB+>C+ 10,14,10
Shape 1 A>B 0,l; 13 A>B 1,l; 19 A>B 11,l; 21 A>B 9,l; 23 A>B 8,l; 24 A>B 6,l; 25 A>B 7,l
Shrink 9 A>A 4
Sigmoid 1 A>A dfh; 13 A>A bdfh
Sign 9 A>A 4; 13 A>A 3
Sin 7 A>A dfh; 22 A>A bdfh
Sinh 9 A>A dfh; 22 A>A bdfh
Size 1 A>B 0,l; 13 A>B 1,l; 19 A>B 11,l; 21 A>B 9,l; 23 A>B 8,l; 24 A>B 6,l; 25 A>B 7,l
Slice 1 A>A 0; 10 ABBBB>A 0,il; 13 ABBBB>A 1,il
Softmax 1 A>A dfh; 13 A>A bdfh
SoftmaxCrossEntropyLoss 12 ABA>AA dfh,il; 13 ABA>AA bdfh,il
Softplus 1 A>A dfh; 22 A>A bdfh
Softsign 1 A>A dfh; 22 A>A bdfh
SpaceToDepth 1 A>A 0; 13 A>A 1
Split 1 AA>A* dfh; 2 A>A* 0; 13 AB>A* 1,l
SplitToSequence 11 AB>C 0,il,10; 24 AB>C 1,il,56
Sqrt 1 A>A dfh; 13 A>A bdfh
Squeeze 1 A>A 0; 13 AB>A 1,l; 21 AB>A 9,l; 23 AB>A 8,l; 24 AB>A 6,l; 25 AB>A 7,l
StringConcat 20 AA>A t
StringNormalizer 10 A>A t
StringSplit 20 A>BC t,t,l
Sub 1 AA>A dfh; 6 AA>A 5; 13 AA>A 2; 14 AA>A 3
Sum 1 A*>A dfh; 13 A*>A bdfh
SwiGLU 28 AA>A bdfh
Swish 24 A>A bdfh
Tan 7 A>A dfh; 22 A>A bdfh
Tanh 1 A>A dfh; 13 A>A bdfh
TensorScatter 24 AAB>A 6,l
TfIdfVectorizer 9 A>B ilt,f
ThresholdedRelu 10 A>A dfh; 22 A>A bdfh
Tile 1 AAA>A dfh; 6 AB>A 0,l; 13 AB>A 1,l
TopK 1 A>AB dfh,l; 10 AB>AC dfh,l,l; 11 AB>AC 4,l,l; 24 AB>AC 3,l,l
Transpose 1 A>A 0; 13 A>A 1; 21 A>A 9; 23 A>A 8; 24 A>A 6; 25 A>A 7
Trilu 14 AB>A 1,l
Unique 11 A>ABBB 0,l; 28 A>ABBB 1,l
Unsqueeze 1 A>A 0; 13 AB>A 1,l; 21 AB>A 9,l; 23 AB>A 8,l; 24 AB>A 6,l; 25 AB>A 7,l
Upsample 1 A>A 59; 7 A>A 0; 9 AB>A 0,f
Where 9 ABB>B o,0; 16 ABB>B o,1
Xor 1 AA>B o,o
ai.onnx.ml:ArrayFeatureExtractor 1 AB>A dfilt,l
ai.onnx.ml:Binarizer 1 A>A dfil
ai.onnx.ml:CategoryMapper 1 A>B lt,lt
ai.onnx.ml:FeatureVectorizer 1 A*>B dfil,f
ai.onnx.ml:Imputer 1 A>A dfil
ai.onnx.ml:LabelEncoder 1 A>B lt,lt; 2 A>B flt,flt; 4 A>B 36,36
ai.onnx.ml:LinearClassifier 1 A>BC dfil,lt,f
ai.onnx.ml:LinearRegressor 1 A>B dfil,f
ai.onnx.ml:Normalizer 1 A>B dfil,f
ai.onnx.ml:OneHotEncoder 1 A>B dfilt,f
ai.onnx.ml:SVMClassifier 1 A>BC dfil,lt,f
ai.onnx.ml:SVMRegressor 1 A>B dfil,f
ai.onnx.ml:Scaler 1 A>B dfil,f
ai.onnx.ml:TreeEnsemble 5 A>A dfh
ai.onnx.ml:TreeEnsembleClassifier 1 A>BC dfil,lt,f
ai.onnx.ml:TreeEnsembleRegressor 1 A>B dfil,f
ai.onnx.ml:ZipMap 1 A>B f,.
ai.onnx.preview:FlexAttention 1 AAA>A bdfh
ai.onnx.preview.training:Adagrad 1 ABC+>C+ df,l,df
ai.onnx.preview.training:Adam 1 ABC+>C+ df,l,df
ai.onnx.preview.training:Gradient 1 A+>B+ 0,dfh
ai.onnx.preview.training:Momentum 1 ABC+>C+ df,l,df
"""
"""A line has an operator and its versions: since, a letter for the type variable of each input
and output, and the set of each variable. A letter with * or + takes all that follow; with
+ each has a type of its own."""
