#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace pollen {

// A callable void(Argument&) kept inside the object itself, so that recording an op allocates nothing. What does not
// fit into the slot goes to the heap. Unlike std::function it is refilled in place and never copied.
template <class Argument>
class Closure {
  public:
    Closure() = default;
    ~Closure() { reset(); }
    Closure(const Closure&) = delete;
    Closure& operator=(const Closure&) = delete;

    template <class Function>
    void emplace(Function&& function) {
        using F = std::decay_t<Function>;
        if (call_) reset();
        if constexpr (sizeof(F) <= slot_size && alignof(F) <= alignof(std::max_align_t)) {
            new (slot_) F(std::forward<Function>(function));
            call_ = [](void* slot, Argument& argument) { (*static_cast<F*>(slot))(argument); };
            if constexpr (!std::is_trivially_destructible_v<F>)
                destroy_ = [](void* slot) { static_cast<F*>(slot)->~F(); };
        } else {
            new (slot_) F*(new F(std::forward<Function>(function)));
            call_ = [](void* slot, Argument& argument) { (**static_cast<F**>(slot))(argument); };
            destroy_ = [](void* slot) { delete *static_cast<F**>(slot); };
        }
    }

    void reset() {
        if (destroy_) destroy_(slot_);
        call_ = nullptr;
        destroy_ = nullptr;
    }

    explicit operator bool() const { return call_ != nullptr; }
    void operator()(Argument& argument) { call_(slot_, argument); }

  private:
    static constexpr std::size_t slot_size = 96;

    void (*call_)(void*, Argument&) = nullptr;
    void (*destroy_)(void*) = nullptr;
    alignas(std::max_align_t) unsigned char slot_[slot_size];
};

}  // namespace pollen
