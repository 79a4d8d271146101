#include <pollen/autograd/support/thread_group.hpp>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace pollen {

namespace {

// Where the threads of a group meet.
struct Hall {
    explicit Hall(int ranks) : count(static_cast<std::size_t>(ranks)), letters(count * count), arrived(count) {}

    // What one rank holds out to another, until that one has taken it.
    const std::span<const std::byte>*& letter(int from, int to) {
        return letters[static_cast<std::size_t>(from) * count + static_cast<std::size_t>(to)];
    }

    std::size_t count;
    std::mutex mutex;
    std::vector<const std::span<const std::byte>*> letters;
    std::vector<std::condition_variable> arrived;  // something has changed for this rank

    // The calls of all: the last to come opens the next round.
    std::condition_variable opened;
    std::size_t waiting = 0;
    std::int64_t round = 0;
    std::vector<std::int64_t> numbers;
    std::span<const std::byte> bytes;
};

// Sends as MPI may do it in the worst case: a sender waits until the receiver has taken what it sends.
class ThreadGroup final : public Group {
  public:
    ThreadGroup(Hall& hall, int rank) : Group(rank, static_cast<int>(hall.count)), hall_(hall) {}

  private:
    void send(int to, std::span<const std::byte> bytes) override {
        std::unique_lock lock(hall_.mutex);
        auto& letter = hall_.letter(rank(), to);
        letter = &bytes;
        hall_.arrived[static_cast<std::size_t>(to)].notify_all();
        hall_.arrived[static_cast<std::size_t>(rank())].wait(lock, [&] { return letter == nullptr; });
    }

    void receive(int from, std::span<std::byte> bytes) override {
        std::unique_lock lock(hall_.mutex);
        auto& letter = hall_.letter(from, rank());
        hall_.arrived[static_cast<std::size_t>(rank())].wait(lock, [&] { return letter != nullptr; });
        const std::span<const std::byte> sent = *letter;
        lock.unlock();
        std::copy_n(sent.begin(), std::min(sent.size(), bytes.size()), bytes.begin());
        lock.lock();
        letter = nullptr;
        hall_.arrived[static_cast<std::size_t>(from)].notify_all();
    }

    void copy_to_all(int from, std::span<std::byte> bytes) override {
        all_come([&] {
            if (rank() == from) hall_.bytes = bytes;
        });
        if (rank() != from) std::copy_n(hall_.bytes.begin(), std::min(hall_.bytes.size(), bytes.size()), bytes.begin());
        all_come([] {});  // before that, the sender keeps its bytes
    }

    void smallest(std::span<std::int64_t> numbers) override {
        all_come([&] {
            if (hall_.waiting == 0)
                hall_.numbers.assign(numbers.begin(), numbers.end());
            else
                for (std::size_t i = 0; i < numbers.size(); ++i)
                    hall_.numbers[i] = std::min(hall_.numbers[i], numbers[i]);
        });
        std::copy(hall_.numbers.begin(), hall_.numbers.end(), numbers.begin());
        all_come([] {});
    }

    // Calls f(), for one rank at a time, and returns when that was done for all.
    template <class F>
    void all_come(const F& f) {
        std::unique_lock lock(hall_.mutex);
        f();
        const std::int64_t round = hall_.round;
        if (++hall_.waiting == hall_.count) {
            hall_.waiting = 0;
            ++hall_.round;
            hall_.opened.notify_all();
        } else {
            hall_.opened.wait(lock, [&] { return hall_.round != round; });
        }
    }

    Hall& hall_;
};

}  // namespace

void run_group(int ranks, const std::function<void(Group&)>& f) {
    if (ranks < 1 || ranks > 1024)
        throw ValueError("run_group: " + std::to_string(ranks) + " ranks; a group has 1 to 1024");
    Hall hall(ranks);
    std::mutex mutex;
    std::condition_variable decided;
    enum class Start { wait, go, never } start = Start::wait;
    struct Failure {
        std::exception_ptr error;
        bool own = false;  // not one that all ranks know of
    };
    std::vector<Failure> failures(static_cast<std::size_t>(ranks));

    const auto run = [&](int rank) {
        {
            std::unique_lock lock(mutex);
            decided.wait(lock, [&] { return start != Start::wait; });
            if (start == Start::never) return;
        }
        ThreadGroup group(hall, rank);
        std::string message = "an exception that is no std::exception";
        Failure& failure = failures[static_cast<std::size_t>(rank)];
        try {
            f(group);
            const Group::Call end(group, "the end of run_group");
            return;
        } catch (const std::exception& error) {
            message = error.what();
            failure = {std::current_exception(), !group.failed()};
        } catch (...) {
            failure = {std::current_exception(), !group.failed()};
        }
        try {
            group.fail(message);
        } catch (const Error&) {  // what the others throw
        }
    };

    std::vector<std::thread> threads;
    const auto begin = [&](Start how) {
        {
            const std::lock_guard lock(mutex);
            start = how;
        }
        decided.notify_all();
        for (std::thread& thread : threads) thread.join();
    };
    try {
        threads.reserve(static_cast<std::size_t>(ranks));
        for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(run, rank);
    } catch (const std::system_error& error) {
        const std::size_t started = threads.size();
        begin(Start::never);
        throw Error("run_group: the system starts " + std::to_string(started) + " threads of " + std::to_string(ranks) +
                    ": " + error.what());
    }
    begin(Start::go);
    // Ranks with failures of their own have told the others in one and the same call.
    for (const bool own : {true, false})
        for (const Failure& failure : failures)
            if (failure.error && failure.own == own) std::rethrow_exception(failure.error);
}

}  // namespace pollen
