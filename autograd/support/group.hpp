#pragma once

#include <pollen/autograd/support/error.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pollen {

// What all ranks of a group throw alike: one of them has failed, or they do not agree.
class GroupError : public Error {
  public:
    using Error::Error;
};

// What can be sent from rank to rank as it is.
template <class N>
concept Sendable = std::is_arithmetic_v<N> && !std::is_const_v<N>;

// What a run needs of its peers: processes of an MPI job (run_mpi), threads of one process (run_group), or nobody
// (alone). Ranks are numbered from 0 to size() - 1.
//
// The functions below rank() and size() are calls of the whole group: all ranks make the same calls in the same order,
// and a call returns, or throws, on all of them. Each call begins with a meeting of the ranks, so the following throws
// a GroupError on every rank instead of letting the others wait forever:
// - a rank has called fail(), whatever the others call;
// - a rank calls another function, or the same one for another size. All later calls throw the same error.
//
// An exception of one rank between two calls must reach the others. run_group() and run_mpi() take care of what leaves
// their function; together() is for what a program wants to survive.
//
// One thread at a time uses a group. The peers have the same architecture, since numbers are sent as they are.
class Group {
  public:
    virtual ~Group() = default;
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    // The group of one, which has nobody to wait for: its calls cost nothing, and several threads may make them at
    // once.
    static Group& alone();

    int rank() const { return rank_; }
    int size() const { return size_; }

    // Returns when all ranks have called it.
    void barrier();

    // Copies the numbers of rank `from` to all others. Throws if their count differs between ranks.
    template <Sendable N>
    void broadcast(std::span<N> numbers, int from = 0) {
        broadcast(std::as_writable_bytes(numbers), from);
    }
    void broadcast(std::span<std::byte> bytes, int from = 0);

    // Returns the text of rank `from`; what the others pass does not matter.
    std::string broadcast(std::string_view text, int from = 0);

    // Returns the texts of all ranks, in their order, on rank 0, and nothing on the others. Texts are any bytes.
    std::vector<std::string> gather(std::string_view text);
    // The same on all ranks.
    std::vector<std::string> all_gather(std::string_view text);

    // Throws a GroupError on all ranks unless all have the same text; it says which rank has what. `what` names it in
    // the message: "the seed".
    void agree(std::string_view what, std::string_view text);

    // Calls f(), which makes no calls of this group. If it throws on some ranks, all throw: a DomainError if the first
    // of those threw one, since samplers reject such a point, and a GroupError otherwise. The message is that of the
    // first: "rank 3: ...". The group goes on. A group of one throws what f() throws.
    void together(const std::function<void()>& f);

    // Ends the work of the group: throws a GroupError "rank 3: message" here, and in the next call and all later ones
    // of every other rank. Waits for that next call. A group of one has nobody to tell and goes on.
    [[noreturn]] void fail(std::string_view message);

    // Whether all later calls throw.
    bool failed() const { return !failure_.empty(); }

    class Call;

  protected:
    // Throws a ValueError unless 0 <= rank < size.
    Group(int rank, int size);

    // How bytes get from rank to rank. The functions of Group see to it that ranks call them in an order that fits and
    // with the same sizes; `bytes` may be empty. A receiver waits for its sender, and a sender may wait for its
    // receiver. An implementation that cannot go on ends the job.
    virtual void send(int to, std::span<const std::byte> bytes) = 0;
    virtual void receive(int from, std::span<std::byte> bytes) = 0;
    virtual void copy_to_all(int from, std::span<std::byte> bytes) = 0;
    // Replaces each number by the smallest of all ranks.
    virtual void smallest(std::span<std::int64_t> numbers) = 0;

  private:
    struct Trouble;
    class Turn;
    void meet(std::string_view what, const Trouble* mine);
    std::string who_has_what(std::string_view text);

    int rank_, size_;
    std::string failure_;  // what all later calls throw
    std::atomic<bool> busy_ = false;
};

// Serves one thread at a time: throws an Error if a call is under way.
class Group::Turn {
  public:
    Turn(Group& group, std::string_view what);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

  private:
    Group& group_;
};

// A call of the whole group under way, for functions that are not members: all ranks make one, then send and receive.
// Nothing may throw from there to its end, so memory is allocated before: the others could wait forever.
class Group::Call {
  public:
    // All ranks meet. `what` says what is called, for how much: it must be the same on all ranks. A rank whose
    // arguments are `wrong` says so, and all ranks throw. Throws as described at Group.
    Call(Group& group, std::string_view what, std::string_view wrong = {});

    // Each send has its receive, of the same size, on the other side. Either may wait for the other.
    void send(int to, std::span<const std::byte> bytes) { group_.send(to, bytes); }
    void receive(int from, std::span<std::byte> bytes) { group_.receive(from, bytes); }
    // All ranks call these.
    void broadcast(int from, std::span<std::byte> bytes);
    void smallest(std::span<std::int64_t> numbers);

  private:
    Group& group_;
    Turn turn_;
};

}  // namespace pollen
