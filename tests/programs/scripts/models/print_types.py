"""Names of types, promotion, and the names of functions in the graph."""

import torch
import torch.nn.functional as F

for dtype in (
    *(torch.float32, torch.float64, torch.float16, torch.bfloat16),
    *(torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool),
):
    print(dtype, dtype.is_floating_point, dtype.itemsize, torch.ones(1).to(dtype).dtype == dtype)
print(torch.float is torch.float32, torch.long is torch.int64, torch.half is torch.float16)
print(torch.get_default_dtype(), torch.tensor(1).dtype, torch.tensor(1.0).dtype)
print((torch.tensor(1) + 1.5).dtype, (torch.ones(1, dtype=torch.int32) / 2).dtype)
print((torch.ones(2, dtype=torch.float64) + torch.ones(2)).dtype, torch.tensor([1, 2.5]).dtype)
print((torch.ones(2, dtype=torch.uint8) + torch.ones(2, dtype=torch.int8)).dtype)
print((torch.arange(3) > 1).dtype, torch.ones(2).long().dtype, torch.ones(2).int().type())
print(torch.ones(3).type(), torch.zeros(1, dtype=torch.long).type(), torch.ones(2).double().type())
print(torch.promote_types(torch.int64, torch.float16), torch.result_type(torch.tensor(1), 1.0))
print(torch.ones(2, dtype=torch.int64).sum().dtype, torch.tensor([True, True]).sum())
print(
    torch.is_tensor(torch.ones(1)),
    torch.is_floating_point(torch.ones(1)),
    type(torch.ones(1)).__name__,
)
print(isinstance(torch.ones(1), torch.Tensor), isinstance(torch.ones(1), torch.FloatTensor))
print(torch.tensor([7]) // 2, torch.tensor([-7]) // 2, torch.tensor([-7]) % 3, -7 // 2)
print(torch.tensor(2) ** 3, torch.tensor(2) ** -1.0, torch.tensor(5) / 2)
print(torch.tensor([1.7, -1.7]).int(), torch.tensor([2.5, 3.5]).round(), torch.tensor([1]).bool())

x = torch.ones(2, 3, requires_grad=True)
print((x + 1).grad_fn.name())
for y in (
    *(x + 1, x * 2, x - x, x / 2, -x, x.sum(), x.exp(), x.log(), x.sqrt(), x.tanh(), x.abs()),
    *(x.view(3, 2), x.permute(1, 0), x.expand(4, 2, 3), torch.cat([x, x]), F.sigmoid(x).sum()),
):
    print(y.grad_fn.name(), end=" ")
print()
print(x.grad_fn, x.is_leaf, (x * 2).is_leaf, x.detach().requires_grad)
with torch.no_grad():
    print((x * 2).requires_grad, torch.is_grad_enabled())
print(torch.is_grad_enabled(), torch.typename(x))
print(torch.__version__[0].isdigit(), torch.cuda.is_available(), torch.cuda.device_count())
