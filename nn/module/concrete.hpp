#pragma once

#include <pollen/autograd/support/error.hpp>
#include <pollen/nn/module/parameter.hpp>

#include <concepts>
#include <memory>
#include <utility>

// What layers, likelihoods and posteriors have in common: they can be copied, and their parameters have names.
namespace pollen {

// The base of a class Self that is a Base: a Module, a Likelihood or a Posterior. It copies a Self, and it shows the
// parameters that Self names in one function for both kinds of visitors:
//
//     static void members(auto& self, auto& visitor) { visitor.parameter("scale", self.scale_); }
//
// A class without parameters leaves members() out. A copy is always a Self, so a class that derives from Self is
// copied as a Self; make Self final if that would be wrong.
template <class Self, class Base>
class Concrete : public Base {
    using T = typename Base::Number;

  public:
    std::unique_ptr<Base> clone() const override { return std::make_unique<Self>(static_cast<const Self&>(*this)); }
    void visit(Visitor<T>& visitor) override { Self::members(static_cast<Self&>(*this), visitor); }
    void visit(ConstVisitor<T>& visitor) const override { Self::members(static_cast<const Self&>(*this), visitor); }
    static void members(auto&, auto&) {}
};

// Owns an object of any class that derives from Base. A copy owns a copy; through a const Owned the object is const.
template <class Base>
class Owned {
  public:
    template <class Object>
    requires std::derived_from<std::remove_cvref_t<Object>, Base> Owned(Object&& object)
        : object_(std::make_unique<std::remove_cvref_t<Object>>(std::forward<Object>(object))) {}
    // Throws a ValueError for a null pointer.
    Owned(std::unique_ptr<Base> object) : object_(std::move(object)) {
        if (!object_) throw ValueError("the pointer to a part, likelihood or posterior is null");
    }
    Owned(const Owned& other) : object_(other.object_ ? other.object_->clone() : nullptr) {}
    Owned(Owned&&) noexcept = default;
    Owned& operator=(Owned other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }

    Base& operator*() { return *object_; }
    Base* operator->() { return object_.get(); }
    const Base& operator*() const { return *object_; }
    const Base* operator->() const { return object_.get(); }

  private:
    std::unique_ptr<Base> object_;
};

}  // namespace pollen
