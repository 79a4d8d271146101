#include <pollen/autograd/streams.hpp>
#include <pollen/nn/module/walk.hpp>

#include <algorithm>
#include <functional>

namespace pollen {

template <Real T>
void Parameters<T>::add(const std::string& prefix, const HasParameters<T>& tree) {
    const auto append = [this](const std::string& name, const Parameter<T>& parameter) {
        for (const Entry& entry : entries_) {
            if (entry.name == name)
                throw ValueError("two parameters are called " + name + "; does members() of a layer name one twice?");
            if (entry.parameter == &parameter)
                throw ValueError("parameter " + name + " is visited twice, first as " + entry.name);
        }
        entries_.push_back({name, &parameter, size_});
        size_ += parameter.shape.size();
    };
    each_parameter(tree, append, prefix);
    places_.clear();
    for (std::size_t k = 0; k < entries_.size(); ++k) places_.emplace_back(entries_[k].parameter, k);
    std::sort(places_.begin(), places_.end(),
              [](const auto& a, const auto& b) { return std::less<>()(a.first, b.first); });
}

template <Real T>
std::optional<std::size_t> Parameters<T>::find(const Parameter<T>& parameter) const {
    const auto at = std::lower_bound(places_.begin(), places_.end(), &parameter,
                                     [](const auto& place, const auto* p) { return std::less<>()(place.first, p); });
    if (at == places_.end() || at->first != &parameter) return {};
    return at->second;
}

template <Real T>
void Parameters<T>::check_values() const {
    for (const Entry& entry : entries_) {
        if (!entry.parameter->has_value())
            throw ValueError("parameter " + entry.name + " " + to_string(entry.parameter->shape) +
                             " has no value yet: call initialise(), load() or train() first");
    }
}

template <Real T>
void Parameters<T>::check_no_statistics(const std::string& who) const {
    for (const Entry& entry : entries_) {
        if (entry.parameter->statistic)
            throw ValueError(who + ": " + entry.name + " is a running statistic: in training, what the network makes " +
                             "of an item depends on the other items of its batch, and there is no likelihood of an " +
                             "item; call freeze_batch_norm(net) first, or use LayerNorm or FilterResponseNorm");
    }
}

template <Real T>
Tensor<T> Parameters<T>::flatten() const {
    check_values();
    Tensor<T> theta = Tensor<T>::empty(Shape{size_});
    for (const Entry& entry : entries_)
        std::copy(entry.parameter->value.begin(), entry.parameter->value.end(), theta.fresh_data() + entry.offset);
    return theta;
}

template <Real T>
std::int64_t unflatten(HasParameters<T>& tree, std::span<const T> theta) {
    std::int64_t used = 0;
    each_parameter(tree, [&](const std::string& name, Parameter<T>& parameter) {
        const std::int64_t size = parameter.shape.size();
        if (used + size > static_cast<std::int64_t>(theta.size()))
            throw ShapeError("unflatten: theta has " + std::to_string(theta.size()) + " numbers; up to parameter " +
                             name + " " + to_string(parameter.shape) + " there are " + std::to_string(used + size));
        parameter.value =
            Tensor<T>(parameter.shape, theta.subspan(static_cast<std::size_t>(used), static_cast<std::size_t>(size)));
        used += size;
    });
    return used;
}

template <Real T>
std::uint32_t initialise(HasParameters<T>& tree, std::uint64_t seed, Which which, std::uint32_t first_stream) {
    std::uint32_t stream = first_stream;
    each_parameter(tree, [&](const std::string&, Parameter<T>& parameter) {
        const std::uint32_t own = stream++;
        if (which == Which::missing && parameter.has_value()) return;
        parameter.value = Tensor<T>::empty(parameter.shape);
        const std::span<T> values(parameter.value.fresh_data(), static_cast<std::size_t>(parameter.shape.size()));
        parameter.init.fill(values, parameter.fans, {seed, stream_of(Purpose::initial_values, own), 0});
    });
    return stream;
}

template class Parameters<float>;
template class Parameters<double>;
template std::int64_t unflatten(HasParameters<float>&, std::span<const float>);
template std::int64_t unflatten(HasParameters<double>&, std::span<const double>);
template std::uint32_t initialise(HasParameters<float>&, std::uint64_t, Which, std::uint32_t);
template std::uint32_t initialise(HasParameters<double>&, std::uint64_t, Which, std::uint32_t);

}  // namespace pollen
