// The program's handler of a signal stays while pollen runs, unless the program has an Interrupt.
#include <pollen/pollen.hpp>

#include <csignal>
#include <iostream>

using namespace pollen;

volatile std::sig_atomic_t seen = 0;

// Whether training and chains come to their end, though each sends a signal.
bool finishes() {
    Dense<double> line(1, 1);
    auto likelihood = Gaussian<double>::known(1);
    const Dataset<double> data{.inputs = Tensor<double>::ones({4, 1}), .targets = Tensor<double>::ones({4, 1})};
    const TrainResult result =
        train(line, likelihood, data, {.epochs = 3, .show = Show::nothing, .on_step = [](auto& now) {
                                           if (now.step == 2) std::raise(SIGINT);
                                           return true;
                                       }});
    const ModelPotential<double> normal([](Model<double>& m) { m.prior(normal_lpdf(m.real("x"), 0, 1)); });
    const Draws draws =
        run_chains(normal, Nuts{}, {.warmup = 50, .draws = 50, .show = Show::nothing, .on_draw = [](auto& now) {
                                        if (now.chain == 1 && now.draw == 5) std::raise(SIGINT);
                                        return true;
                                    }});
    return result.end == TrainResult::End::finished && !draws.interrupted;
}

int main() {
    std::signal(SIGINT, [](int) { seen = seen + 1; });
    bool right = finishes() && seen == 2;
    {
        const Interrupt interrupt;
        right = right && !finishes() && Interrupt::requested() && seen == 2;
    }
    std::raise(SIGINT);
    right = right && seen == 3 && !Interrupt::requested();
    std::cout << (right ? "the signals are the program's\n" : "a signal was taken\n");
    return right ? 0 : 1;
}
