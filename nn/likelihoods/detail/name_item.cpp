#include <pollen/nn/likelihoods/detail/name_item.hpp>

#include <pollen/nn/module/detail/refused_item.hpp>

namespace pollen::detail {

template <Real T>
void find_item(const Module<T>& net, const Likelihood<T>& likelihood, const Parameters<T>& parameters,
               std::span<const T> theta, const Dataset<T>& data, std::int64_t first, const std::stop_token& stop) {
    Tape<T> tape(Recording::off);
    Pass<T> pass(tape, parameters);
    find_refused_item(
        0, data.size(), "the data set",
        [&](std::int64_t item) {
            const Dataset<T> one = data.view(item, 1);
            tape.clear();
            pass.restart({}, theta);
            likelihood.log_prob(pass, net(pass, tape.borrow(one.inputs)), one);
        },
        first, stop);
}

#define POLLEN_INSTANTIATE(T)                                                                                 \
    template void find_item(const Module<T>&, const Likelihood<T>&, const Parameters<T>&, std::span<const T>, \
                            const Dataset<T>&, std::int64_t, const std::stop_token&);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen::detail
