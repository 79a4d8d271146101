#include <pollen/nn/distributions/own_density.hpp>

#include <pollen/nn/distributions/detail/density_class.hpp>

#include <vector>

namespace pollen::distributions {

namespace {

// The arguments broadcast against each other: single numbers as they are, others written out in the full shape.
template <Real T>
class Columns {
  public:
    Columns(const char* name, std::span<const ArgRef<T>> args, Pool& pool) {
        for (const ArgRef<T>& arg : args)
            if (arg.shape()) shape_ = broadcast(name, shape_, *arg.shape());
        for (const ArgRef<T>& arg : args) {
            const bool moves = arg.size() != 1;
            columns_.push_back({arg.data(), moves ? 1 : 0});
            if (!moves || arg.size() == shape_.size()) continue;
            held_.push_back(Tensor<T>::empty(shape_, pool));
            kernels::repeat_into<T>({held_.back().fresh_data(), true}, shape_, arg.data(), *arg.shape());
            columns_.back().data = held_.back().data();
        }
    }
    const Shape& shape() const { return shape_; }

    // Derivatives go to slopes[k], unless that is null.
    void evaluate(LawOfColumns<T> law, T* value, std::span<T* const> slopes) const {
        parallel_for(shape_.size(), 1024, [&](std::int64_t begin, std::int64_t end) {
            std::vector<Column<T>> in = columns_;
            for (Column<T>& column : in) column.data += begin * column.step;
            std::vector<T*> out(slopes.begin(), slopes.end());
            for (T*& slope : out)
                if (slope) slope += begin;
            law(end - begin, in.data(), value + begin, out.data());
        });
    }

  private:
    Shape shape_;
    std::vector<Column<T>> columns_;
    std::vector<Tensor<T>> held_;
};

// Writes the elements and the derivatives with respect to the arguments that want them, one behind the other and
// padded.
template <Real T>
void write_own_terms(const Columns<T>& columns, LawOfColumns<T> law, std::span<const ArgRef<T>> args, T* y, T* slopes) {
    std::vector<T*> to;
    for (const ArgRef<T>& arg : args) {
        to.push_back(arg.needs_grad() ? slopes : nullptr);
        if (arg.needs_grad()) slopes += padded<T>(columns.shape().size());
    }
    columns.evaluate(law, y, to);
}

}  // namespace

template <Real T>
void check_own_parameters(const char* name, std::span<const Parameter> parameters, std::span<const ArgRef<T>> args) {
    for (std::size_t k = 0; k < args.size(); ++k)
        for (std::int64_t i = 0; i < args[k].size(); ++i)
            if (!within(parameters[k].bound, args[k].data()[i])) refuse(name, parameters[k], args[k], i);
}

template <Real T>
Var<T> own_terms(const char* name, std::span<const Parameter> parameters, LawOfColumns<T> law,
                 std::span<const ArgRef<T>> args) {
    std::vector<Var<T>> inputs;
    std::int64_t wanted = 0;
    for (const ArgRef<T>& arg : args) {
        if (arg.var()) inputs.push_back(*arg.var());
        wanted += arg.needs_grad();
    }
    if (inputs.empty()) fail_without_tape(name);
    TapeState<T>& tape = inputs[0].state();
    const Columns<T> columns(name, args, tape.pool());
    Tensor<T> y = tape.empty(columns.shape());
    Tensor<T> slopes = tape.empty(Shape{wanted, padded<T>(columns.shape().size())});
    write_own_terms(columns, law, args, y.fresh_data(), slopes.fresh_data());
    // A replay needs the constants as inputs, too.
    if (tape.replays()) {
        inputs.clear();
        for (const ArgRef<T>& arg : args) inputs.push_back(on_tape(arg, tape));
    }
    const auto forward = [name, parameters, law, to = slopes.fresh_data()](Forward<T>& node) {
        std::vector<Var<T>> vars;
        for (int k = 0; k < node.input_count(); ++k) vars.push_back(node.input_var(k));
        const std::vector<ArgRef<T>> now(vars.begin(), vars.end());
        check_own_parameters<T>(name, parameters, std::span(now).subspan(1));
        write_own_terms<T>(Columns<T>(name, now, node.pool()), law, now, node.value(), to);
    };
    return tape.record(name, std::span<const Var<T>>(inputs), std::move(y), forward,
                       [slopes = std::move(slopes)](Backward<T>& b) { pass_each_to_inputs(b, slopes.data()); });
}

template <Real T>
Tensor<T> own_terms_each(const char* name, LawOfColumns<T> law, std::span<const ArgRef<T>> args) {
    const Columns<T> columns(name, args, Pool::global());
    Tensor<T> y = Tensor<T>::empty(columns.shape());
    columns.evaluate(law, y.fresh_data(), std::vector<T*>(args.size()));
    return y;
}

template <Real T>
Tensor<T> own_draws(const char* name, double (*draw)(double, const double*), const Shape& shape, const RandomKey& key,
                    std::span<const Arg<T>> parameters) {
    std::vector<Tensor<double>> full;
    for (const Arg<T>& parameter : parameters) full.push_back(repeated<T>(name, parameter, shape));
    Tensor<T> out = Tensor<T>::empty(shape);
    T* to = out.fresh_data();
    parallel_for(shape.size(), 1024, [&](std::int64_t begin, std::int64_t end) {
        std::vector<double> p(full.size());
        for (std::int64_t i = begin; i < end; ++i) {
            for (std::size_t k = 0; k < p.size(); ++k) p[k] = full[k].data()[i];
            const double u = uniform_at<double>(key, static_cast<std::uint64_t>(i));
            to[i] = static_cast<T>(draw(u > 0 ? u : 0x1p-54, p.data()));
        }
    });
    return out;
}

#define POLLEN_INSTANTIATE(T)                                                                                        \
    template void check_own_parameters(const char*, std::span<const Parameter>, std::span<const ArgRef<T>>);         \
    template Var<T> own_terms(const char*, std::span<const Parameter>, LawOfColumns<T>, std::span<const ArgRef<T>>); \
    template Tensor<T> own_terms_each(const char*, LawOfColumns<T>, std::span<const ArgRef<T>>);                     \
    template Tensor<T> own_draws(const char*, double (*)(double, const double*), const Shape&, const RandomKey&,     \
                                 std::span<const Arg<T>>);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen::distributions
