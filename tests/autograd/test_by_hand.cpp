// Whole training steps: what all the parts promise together.
#include "../support.hpp"

#include <pollen/autograd/parallel.hpp>

#include <cstring>

using namespace pollen;
using namespace pollen::test;

namespace {

// A network n-h-10 with one hidden layer, trained by gradient descent on random images and labels.
template <class T>
class Network {
  public:
    Network(std::int64_t batch, std::int64_t inputs, std::int64_t hidden)
        : x_(random({batch, inputs}, 1, T(1))),
          labels_(Indices::zeros({batch})),
          weights_{random({inputs, hidden}, 2, T(0.05)), random({hidden}, 3, T(0.05)), random({hidden, 10}, 4, T(0.05)),
                   random({10}, 5, T(0.05))} {
        for (std::int64_t i = 0; i < batch; ++i) labels_.mutable_at(i) = static_cast<std::int32_t>(i * 7 % 10);
    }

    T step() {
        std::array<Var<T>, 4> w;
        for (std::size_t k = 0; k < 4; ++k) w[k] = tape_.borrow_variable(weights_[k]);
        const Var<T> h = relu(matmul(tape_.borrow(x_), w[0]) + w[1]);
        const Var<T> loss = cross_entropy(matmul(h, w[2]) + w[3], labels_);
        tape_.backward(loss);
        const T value = loss.item();
        for (std::size_t k = 0; k < 4; ++k) {
            const Tensor<T> gradient = w[k].grad();
            T* to = weights_[k].mutable_data();
            for (std::int64_t i = 0; i < gradient.size(); ++i) to[i] -= T(0.1) * gradient.data()[i];
        }
        tape_.clear();
        return value;
    }

    const std::vector<Tensor<T>>& weights() const { return weights_; }
    PoolCounters pool() const { return tape_.pool(); }

  private:
    static Tensor<T> random(const Shape& shape, std::uint32_t stream, T sd) {
        Tensor<T> tensor = Tensor<T>::zeros(shape);
        Random(1, stream).fill_normal(tensor.mutable_values(), T(0), sd);
        return tensor;
    }

    Tape<T> tape_;
    Tensor<T> x_;
    Indices labels_;
    std::vector<Tensor<T>> weights_;
};

template <class T>
bool same_bits(const Tensor<T>& a, const Tensor<T>& b) {
    return a.shape() == b.shape() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(T)) == 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(training)

BOOST_AUTO_TEST_CASE(the_loss_falls) {
    Network<float> network(64, 20, 32);
    const float first = network.step();
    BOOST_TEST(std::abs(first - std::log(10.0f)) < 0.1f);
    float last = first;
    for (int i = 0; i < 300; ++i) last = network.step();
    BOOST_TEST(last < 0.5f * first);
}

// Large enough that every parallel path is taken.
BOOST_AUTO_TEST_CASE(steps_have_the_same_bits_at_any_number_of_threads) {
    const auto train = [](int threads) {
        Network<float> network(256, 784, 600);
        with_threads(threads, [&] {
            for (int i = 0; i < 3; ++i) network.step();
        });
        return network.weights();
    };
    const std::vector<Tensor<float>> expected = train(1);
    for (int threads : {2, 4, 8}) {
        const std::vector<Tensor<float>> got = train(threads);
        for (std::size_t k = 0; k < expected.size(); ++k)
            BOOST_TEST(same_bits(got[k], expected[k]), "weights " << k << " at " << threads << " threads");
    }
}

BOOST_AUTO_TEST_CASE(the_steady_state_allocates_nothing) {
    Network<double> network(8, 5, 16);
    for (int i = 0; i < 10; ++i) network.step();
    const PoolCounters tape = network.pool(), global = Pool::global().counters();
    for (int i = 0; i < 10000; ++i) network.step();
    BOOST_TEST(network.pool().allocated == tape.allocated);
    BOOST_TEST(network.pool().freed == tape.freed);
    BOOST_TEST(network.pool().bytes == tape.bytes);
    BOOST_TEST(Pool::global().counters().allocated == global.allocated);
    BOOST_TEST(Pool::global().counters().bytes == global.bytes);
    BOOST_TEST(network.pool().taken > tape.taken);
}

// One tape per thread, reading one data set: nothing is shared but the data.
BOOST_AUTO_TEST_CASE(tapes_run_side_by_side) {
    const Tensor<double> data = normals({100});
    std::vector<double> gradients(16);
    with_threads(8, [&] {
        parallel_for(16, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                Tape<double> tape;
                double total = 0;
                for (int step = 0; step < 50; ++step) {
                    const auto w = tape.variable(Tensor<double>::scalar(static_cast<double>(i)));
                    tape.backward(sum(square(tape.borrow(data) * w)));
                    total += w.grad().item();
                    tape.clear();
                }
                gradients[static_cast<std::size_t>(i)] = total;
            }
        });
    });
    double square_sum = 0;
    for (double x : data) square_sum += x * x;
    for (std::size_t i = 0; i < 16; ++i)
        BOOST_TEST(gradients[i] == 100 * static_cast<double>(i) * square_sum, boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_SUITE_END()
