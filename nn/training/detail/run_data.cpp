#include <pollen/nn/training/detail/run_data.hpp>

#include <pollen/autograd/rows.hpp>
#include <pollen/nn/likelihoods/detail/name_item.hpp>

#include <algorithm>

namespace pollen::detail {

namespace {

// check_data() of the likelihood, for outputs of this shape for any number of items. It counts items from the first one
// here, so those of a part are then tried one by one.
template <Real T>
void check_targets(const Likelihood<T>& likelihood, const Shape& outputs, const RunData<T>& run) {
    const Dataset<T>& data = run.data;
    const auto check = [&](const Dataset<T>& some) { likelihood.check_data(with_rows(outputs, some.size()), some); };
    try {
        check(data);
    } catch (const ValueError&) {
        for (std::int64_t item = 0; item < data.size() && data.size() < run.items; ++item) {
            try {
                check(data.view(item, 1));
            } catch (const ValueError& error) {
                throw ValueError("item " + std::to_string(run.first + item) +
                                 " of the data set, alone: " + error.what());
            }
        }
        throw;
    }
}

}  // namespace

template <Real T>
void check_run_data(const std::string& which, const RunData<T>& run, const Module<T>& net,
                    const Likelihood<T>& likelihood, const Parameters<T>& parameters, std::span<const T> theta,
                    std::int64_t batch, const std::stop_token& stop) {
    const Dataset<T>& data = run.data;
    data.check();
    if (data.size() == 0) throw ShapeError("train: the validation data are empty");
    data.check_finite(which.empty() ? "train" : "train: the validation data", run.first);
    const Dataset<T> some = data.view(0, std::min(batch, data.size()));
    const Tensor<T> outputs = name_item(
        net, likelihood, parameters, theta, data, [&] { return predict(net, parameters, theta, some.inputs); },
        run.first, stop);
    try {
        check_targets(likelihood, outputs.shape(), run);
    } catch (const ShapeError& error) {
        throw ShapeError(which + error.what());
    } catch (const ValueError& error) {
        throw ValueError(which + error.what());
    }
}

#define POLLEN_INSTANTIATE(T)                                                                                   \
    template void check_run_data(const std::string&, const RunData<T>&, const Module<T>&, const Likelihood<T>&, \
                                 const Parameters<T>&, std::span<const T>, std::int64_t, const std::stop_token&);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen::detail
