#include <pollen/nn/potentials/spread_potential.hpp>

#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/autograd/support/detail/leading.hpp>
#include <pollen/nn/potentials/detail/spread_sum.hpp>

#include <atomic>
#include <mutex>
#include <utility>

namespace pollen {

namespace {

template <Real T>
std::unique_ptr<ItemwisePotential<T>> copy_of(const ItemwisePotential<T>& part) {
    std::unique_ptr<Potential<T>> copy = part.clone();
    auto* const itemwise = dynamic_cast<ItemwisePotential<T>*>(copy.get());
    if (!itemwise) throw ValueError("SpreadPotential: clone() of the part returns no ItemwisePotential");
    static_cast<void>(copy.release());
    return std::unique_ptr<ItemwisePotential<T>>(itemwise);
}

// No other potential of this group has the same: those that are evaluated on different ranks must be told apart.
std::int64_t next_number(Group& group) {
    static std::atomic<std::int64_t> count = 0;
    std::int64_t number = ++count;
    group.broadcast(std::span<std::int64_t>(&number, 1));
    return number;
}

}  // namespace

// What rank 0 asks of the others, and how they answer.
template <Real T>
class SpreadPotential<T>::Engine {
  public:
    Engine(const ItemwisePotential<T>& given, const Spread& spread)
        : part_(copy_of(given)), spread_(spread), sum_(*part_, spread_) {}

    ItemwisePotential<T>& part() { return *part_; }
    const Spread& spread() const { return spread_; }
    Group& group() const { return spread_.group(); }
    void set_number(std::int64_t number) {
        name_ = "potential " + std::to_string(number) + " of " + std::to_string(part_->size()) + " numbers";
    }

    Energy evaluate(std::span<const T> theta, std::span<T> gradient, std::span<const std::int64_t> batch,
                    double temperature) {
        const std::lock_guard lock(mutex_);
        if (group().size() > 1) {
            if (!leading_)
                throw ValueError(
                    "SpreadPotential: all ranks evaluate it together; call run_chains(), or lead() with a function "
                    "that evaluates it, on all ranks");
            theta_.assign(theta.begin(), theta.end());
            batch_.assign(batch.begin(), batch.end());
            exchange({.what = Command::compute, .gradient = !gradient.empty(), .batch = std::ssize(batch)});
        }
        return sum_(theta, !gradient.empty(), gradient, batch, temperature);
    }

    void lead(const std::function<void()>& f) {
        if (group().size() == 1) return f();
        if (group().rank() > 0) return serve_or_fail();
        if (set_leading(true)) return f();  // inside of another lead()
        detail::lead_group(group(), f, [&](bool failed) {
            set_leading(false);
            exchange({.what = failed ? Command::failed : Command::done});
        });
    }

    bool of_leader(bool flag) {
        const std::lock_guard lock(mutex_);
        if (leading_) return flag;  // the others serve
        std::uint8_t told = flag;
        group().broadcast(std::span(&told, 1));
        return told != 0;
    }

    void values(std::span<const T> theta, std::span<double> out) {
        const std::lock_guard lock(mutex_);
        part_->values(theta, out);
    }

  private:
    struct Command {
        enum : std::int64_t { done, failed, compute };
        std::int64_t what = done, gradient = 0, batch = 0;
    };

    // Returns what it was.
    bool set_leading(bool leading) {
        const std::lock_guard lock(mutex_);
        return std::exchange(leading_, leading);
    }

    // The command of rank 0 on all ranks, with theta and the batch.
    Command exchange(Command command) {
        if (group().rank() > 0) theta_.resize(static_cast<std::size_t>(part_->size()));
        {
            Group::Call call(group(), name_);
            call.broadcast(0, std::as_writable_bytes(std::span(&command, 1)));
            if (command.what == Command::compute) call.broadcast(0, std::as_writable_bytes(std::span(theta_)));
        }
        batch_.resize(static_cast<std::size_t>(command.batch));
        if (command.batch > 0) group().broadcast(std::span(batch_));
        return command;
    }

    // This rank alone knows of an error between two calls, such as memory that the system refused.
    void serve_or_fail() {
        try {
            serve();
        } catch (const GroupError&) {
            throw;
        } catch (...) {
            group().fail(detail::what_of(std::current_exception()));
        }
    }

    // Evaluates what rank 0 asks for, until it is done.
    void serve() {
        for (;;) {
            const Command command = exchange({});
            if (command.what == Command::done) return;
            if (command.what == Command::failed) detail::throw_of_leader(group());
            detail::serve_once(group(), [&] { sum_(theta_, command.gradient != 0, {}, batch_, 1); });
        }
    }

    std::unique_ptr<ItemwisePotential<T>> part_;
    const Spread spread_;
    SpreadSum<T> sum_;
    std::string name_;
    std::mutex mutex_;
    bool leading_ = false;
    std::vector<T> theta_;
    std::vector<std::int64_t> batch_;
};

template <Real T>
SpreadPotential<T>::SpreadPotential(const ItemwisePotential<T>& part, const Spread& spread) {
    Group& group = spread.group();
    group.together([&] {
        if (part.items() != spread.count())
            throw ValueError("SpreadPotential: the part has " + std::to_string(part.items()) +
                             " items; this rank has the " + std::to_string(spread.count()) + " items from " +
                             std::to_string(spread.first()) + " on");
        engine_ = std::make_shared<Engine>(part, spread);
        engine_->part().check_itemwise();
    });
    group.agree("the potential",
                (sizeof(T) == 4 ? "float, " : "double, ") + engine_->part().law() + ", " + engine_->part().agreement());
    engine_->set_number(next_number(group));
    this->set_temperature(part.temperature());
}

// On a group of one nobody else must answer, so that clones may be evaluated side by side.
template <Real T>
SpreadPotential<T>::SpreadPotential(const SpreadPotential& other)
    : Potential<T>(),
      engine_(other.engine_->group().size() > 1
                  ? other.engine_
                  : std::make_shared<Engine>(other.engine_->part(), other.engine_->spread())) {
    this->set_temperature(other.temperature());
}

template <Real T>
SpreadPotential<T>::~SpreadPotential() = default;

template <Real T>
std::unique_ptr<Potential<T>> SpreadPotential<T>::clone() const {
    return std::unique_ptr<Potential<T>>(new SpreadPotential(*this));
}

template <Real T>
std::int64_t SpreadPotential<T>::size() const {
    return engine_->part().size();
}

template <Real T>
std::int64_t SpreadPotential<T>::items() const {
    return engine_->spread().items();
}

// What the other ranks are asked for is right.
template <Real T>
Energy SpreadPotential<T>::evaluate_checked(std::span<const T> theta, std::span<T> gradient,
                                            std::span<const std::int64_t> batch) {
    const auto need = [&](const char* what, std::size_t n) {
        if (static_cast<std::int64_t>(n) != size())
            throw ShapeError("SpreadPotential: " + std::string(what) + " has " + std::to_string(n) +
                             " numbers; the potential has " + std::to_string(size()));
    };
    need("theta", theta.size());
    if (!gradient.empty()) need("the gradient", gradient.size());
    for (const std::int64_t item : batch) engine_->spread().block_of(item);
    return this->unless_refused(gradient,
                                [&] { return engine_->evaluate(theta, gradient, batch, this->temperature()); });
}

template <Real T>
Energy SpreadPotential<T>::evaluate(std::span<const T> theta, std::span<T> gradient) {
    return evaluate_checked(theta, gradient, {});
}

template <Real T>
Energy SpreadPotential<T>::evaluate(std::span<const T> theta, std::span<T> gradient,
                                    std::span<const std::int64_t> batch) {
    if (batch.empty()) throw ValueError("SpreadPotential: the batch is empty");
    return evaluate_checked(theta, gradient, batch);
}

template <Real T>
std::vector<T> SpreadPotential<T>::start(std::uint64_t seed, std::uint32_t chain) const {
    return engine_->part().start(seed, chain);
}

template <Real T>
const std::vector<Quantity>& SpreadPotential<T>::quantities() const {
    return engine_->part().quantities();
}

template <Real T>
void SpreadPotential<T>::values(std::span<const T> theta, std::span<double> out) {
    engine_->values(theta, out);
}

template <Real T>
const std::vector<Quantity>& SpreadPotential<T>::blocks() const {
    return engine_->part().blocks();
}

template <Real T>
std::string SpreadPotential<T>::describe() const {
    return engine_->part().law() + ", " + std::to_string(items()) + " items in " +
           std::to_string(engine_->spread().blocks()) + " blocks";
}

template <Real T>
bool SpreadPotential<T>::of_network() const {
    return engine_->part().of_network();
}

template <Real T>
void SpreadPotential<T>::lead(const std::function<void()>& f) const {
    engine_->lead(f);
}

template <Real T>
bool SpreadPotential<T>::of_leader(bool flag) const {
    return engine_->of_leader(flag);
}

template <Real T>
bool SpreadPotential<T>::one_at_a_time() const {
    return engine_->group().size() > 1;
}

template class SpreadPotential<float>;
template class SpreadPotential<double>;

}  // namespace pollen
