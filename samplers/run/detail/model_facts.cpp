#include <pollen/samplers/run/detail/model_facts.hpp>

#include <pollen/autograd/random.hpp>
#include <pollen/autograd/streams.hpp>
#include <pollen/data/io/detail/hash_text.hpp>

#include <algorithm>
#include <cmath>

namespace pollen::detail {

namespace {

// All NaNs have the same bits here.
template <class N>
N canonical(N x) {
    return std::isnan(x) ? std::numeric_limits<N>::quiet_NaN() : x;
}

// What an evaluation gives: the energies and a hash of the gradient, or that it throws.
template <Real T, class Evaluate>
std::string result_of(std::vector<T>& gradient, const Evaluate& evaluate) {
    std::fill(gradient.begin(), gradient.end(), T(0));
    Energy energy;
    try {
        energy = evaluate();
    } catch (...) {
        return "throws";
    }
    std::transform(gradient.begin(), gradient.end(), gradient.begin(), canonical<T>);
    const double energies[] = {canonical(energy.prior), canonical(energy.likelihood)};
    return hash_text(std::as_bytes(std::span(energies))) + hash_text(std::as_bytes(std::span(gradient)));
}

}  // namespace

template <Real T>
std::vector<std::pair<std::string, std::string>> model_facts(const Potential<T>& potential) {
    std::vector<std::pair<std::string, std::string>> facts = potential.facts();
    if (!facts.empty()) return facts;
    const std::unique_ptr<Potential<T>> own = potential.clone();
    const auto d = static_cast<std::size_t>(own->size());
    std::vector<T> theta(d), gradient(d);
    std::string results;
    for (const std::uint64_t point : {1, 2}) {
        fill_uniform({0, stream_of(Purpose::starts), point}, 0, std::span(theta), T(-1), T(1));
        results += result_of(gradient, [&] { return own->evaluate(theta, gradient); });
    }
    // Batches depend on the order of the items, which the sum over all of them does not show.
    if (const std::int64_t n = own->items(); n > 0) {
        std::vector<std::int64_t> batch(static_cast<std::size_t>(std::min<std::int64_t>(n, 64)));
        for (const std::int64_t shift : {std::int64_t{0}, n / 2}) {
            for (std::size_t k = 0; k < batch.size(); ++k)
                batch[k] = (shift + static_cast<std::int64_t>(k) * (n / std::ssize(batch))) % n;
            results += result_of(gradient, [&] { return own->evaluate(theta, gradient, batch); });
        }
        batch.resize(1);
        results += result_of(gradient, [&] { return own->evaluate(theta, gradient, batch); });
    }
    return {{energies_at_fixed_points, hash_text(std::as_bytes(std::span(results)))}};
}

template std::vector<std::pair<std::string, std::string>> model_facts(const Potential<float>&);
template std::vector<std::pair<std::string, std::string>> model_facts(const Potential<double>&);

}  // namespace pollen::detail
