#pragma once

#include <functional>
#include <optional>
#include <string>

// One row of the table that `./run bench` prints: a piece of work, done by pollen and by something to compare with.
namespace pollen::bench {

using Work = std::function<void()>;

// How a row's numbers are made from the fastest time of one call.
struct Unit {
    std::string name;   // ns, us, ms, GB/s, GF/s
    double per_second;  // a time: seconds times this; a rate: this divided by seconds
    bool rate;          // rates are better when larger

    static Unit nanoseconds(double calls = 1) { return {"ns", 1e9 / calls, false}; }
    static Unit microseconds() { return {"us", 1e6, false}; }
    static Unit milliseconds() { return {"ms", 1e3, false}; }
    static Unit gigabytes(double bytes) { return {"GB/s", bytes / 1e9, true}; }
    static Unit gigaflops(double operations) { return {"GF/s", operations / 1e9, true}; }
    double of(double seconds) const { return rate ? per_second / seconds : seconds * per_second; }
};

struct Row {
    std::string suite;
    std::string name;
    Unit unit;
    Work ours;
    std::string peer;  // what we compare with
    // Run interleaved with ours; or, where the peer is a fixed number, that number; or, where the peer is another
    // program, neither: benchmarks/peers/ is asked for `name`, in the unit of the row.
    Work peer_work = {};
    std::optional<double> peer_value = {};
    // How many pieces of work `ours` does in one call, where the row is about one of them. Asked after a call.
    std::function<double()> pieces = [] { return 1; };
    double goal = 1;  // ratio to reach: how many times better than the peer
    int threads = 0;  // 0: as many as there are
};

// Rows are added at start-up, one static object a file: `static const Register rows([] { add(...); });`
void add(Row row);

struct Register {
    explicit Register(void (*add_rows)()) { add_rows(); }
};

// Keeps the compiler from leaving out the computation of x.
void keep(const void* x);

}  // namespace pollen::bench
