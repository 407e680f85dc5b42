"""A physics-informed network for Burgers' equation: first and second derivatives in the loss."""

from collections import OrderedDict

import numpy as np
import torch

device = torch.device("cuda") if torch.cuda.is_available() else torch.device("cpu")
np.random.seed(1234)


class DNN(torch.nn.Module):
    def __init__(self, layers):
        super(DNN, self).__init__()
        self.depth = len(layers) - 1
        self.activation = torch.nn.Tanh
        layer_list = list()
        for i in range(self.depth - 1):
            layer_list.append(("layer_%d" % i, torch.nn.Linear(layers[i], layers[i + 1])))
            layer_list.append(("activation_%d" % i, self.activation()))
        layer_list.append(("layer_%d" % (self.depth - 1), torch.nn.Linear(layers[-2], layers[-1])))
        self.layers = torch.nn.Sequential(OrderedDict(layer_list))

    def forward(self, x):
        return self.layers(x)


class PhysicsInformedNN:
    def __init__(self, X_u, u, X_f, layers, lb, ub, nu):
        self.lb = torch.tensor(lb).float().to(device)
        self.ub = torch.tensor(ub).float().to(device)
        self.x_u = torch.tensor(X_u[:, 0:1], requires_grad=True).float().to(device)
        self.t_u = torch.tensor(X_u[:, 1:2], requires_grad=True).float().to(device)
        self.x_f = torch.tensor(X_f[:, 0:1], requires_grad=True).float().to(device)
        self.t_f = torch.tensor(X_f[:, 1:2], requires_grad=True).float().to(device)
        self.u = torch.tensor(u).float().to(device)
        self.nu = nu
        self.lambda_1 = torch.nn.Parameter(torch.tensor([0.8], requires_grad=True))
        self.dnn = DNN(layers).to(device)
        for p in self.dnn.parameters():
            bound = p.shape[-1] ** -0.5
            p.data = torch.from_numpy(np.random.uniform(-bound, bound, p.shape)).float()
        self.dnn.register_parameter("lambda_1", self.lambda_1)
        self.optimizer = torch.optim.LBFGS(
            self.dnn.parameters(),
            lr=0.5,
            max_iter=8,
            history_size=50,
            tolerance_grad=1e-7,
            tolerance_change=1.0 * np.finfo(float).eps,
            line_search_fn="strong_wolfe",
        )
        self.iter = 0

    def net_u(self, x, t):
        X = 2.0 * (torch.cat([x, t], dim=1) - self.lb) / (self.ub - self.lb) - 1.0
        return self.dnn(X)

    def net_f(self, x, t):
        u = self.net_u(x, t)
        u_t = torch.autograd.grad(
            u, t, grad_outputs=torch.ones_like(u), retain_graph=True, create_graph=True
        )[0]
        u_x = torch.autograd.grad(
            u, x, grad_outputs=torch.ones_like(u), retain_graph=True, create_graph=True
        )[0]
        u_xx = torch.autograd.grad(
            u_x, x, grad_outputs=torch.ones_like(u_x), retain_graph=True, create_graph=True
        )[0]
        return u_t + self.lambda_1 * u * u_x - self.nu * u_xx

    def loss_func(self):
        self.optimizer.zero_grad()
        u_pred = self.net_u(self.x_u, self.t_u)
        f_pred = self.net_f(self.x_f, self.t_f)
        loss_u = torch.mean((self.u - u_pred) ** 2)
        loss_f = torch.mean(f_pred**2)
        loss = loss_u + loss_f
        loss.backward()
        self.iter += 1
        print("Iter %d, loss: %.5e, u loss: %.5e" % (self.iter, loss.item(), loss_u.item()))
        return loss

    def train(self):
        self.dnn.train()
        adam = torch.optim.Adam(self.dnn.parameters(), lr=5e-3)
        for _ in range(5):
            self.loss_func()
            adam.step()
        self.optimizer.step(self.loss_func)

    def predict(self, X):
        x = torch.tensor(X[:, 0:1], requires_grad=True).float().to(device)
        t = torch.tensor(X[:, 1:2], requires_grad=True).float().to(device)
        self.dnn.eval()
        u = self.net_u(x, t)
        f = self.net_f(x, t)
        return u.detach().cpu().numpy(), f.detach().cpu().numpy()


lb, ub = np.array([-1.0, 0.0]), np.array([1.0, 0.99])
edge = np.random.uniform(size=(24, 2)) * [2, 1] - [1, 0]
edge[:12, 1] = 0.0
edge[12:18, 0] = -1.0
edge[18:, 0] = 1.0
u = np.where(edge[:, 1:] == 0, -np.sin(np.pi * edge[:, :1]), 0.0)
inside = lb + (ub - lb) * np.random.uniform(size=(40, 2))
model = PhysicsInformedNN(edge, u, np.vstack([inside, edge]), [2, 10, 10, 1], lb, ub, 0.01 / np.pi)
model.train()
u_pred, f_pred = model.predict(edge)
print(u_pred.shape, f_pred.dtype)
