// Brownian motion: a pollen grain in water, and the same walk on a loss.
//
//     ./run example brownian
//
// How does a grain get about that water molecules push at random, and what has that to do with training a network?
// The grain follows the Langevin equation  m x'' = -gamma x' - dU/dx + random force  (KineticLangevin). If friction is
// large, the mass drops out, and a step of what is left is one of SGLD: gradient descent with added noise.
//
//     1  <x^2> = 2 kT m / gamma^2 (tau - 1 + exp(-tau)), tau = gamma t / m: first as t^2, then as t
//     2  Einstein's relation D = kT / gamma (On the motion of small particles suspended in liquids at rest required by
//        the molecular-kinetic theory of heat, 1905), for three temperatures, frictions and masses
//     3  in a trap, the limit of large friction
//     4  SGD and SGLD: the variance that batches bring to a step is e^2 V / 4, the noise that SGLD injects has e
//     5  a rate that falls as 1/t: the moment at which the injected noise takes over, and what it does to theta
//     6  the same over segments whose rates have the same sum (Welling & Teh 2011)
//     7  the Metropolis acceptance of a Langevin step goes to 1: the rejections fall as e^1.5
//     8  the central limit theorem: the larger a batch, the more normal its noise
//
// Expected output: nine tables and the figures brownian and brownian_loss. All measured numbers agree with their laws
// within three standard errors. D is kT / gamma within 2 %. The injected noise takes over at a rate of 4 / V = 4.4e-5,
// after 219 of 10,000 steps (exact: 218); in the end SGLD has 1.03 times the variance of the posterior, and SGD 0.025
// times.
#include "brownian/grain.hpp"
#include "brownian/loss.hpp"
#include "brownian/normal_noise.hpp"

#include <cstdio>

int main(int argc, char** argv) {
    Example example("Brownian motion: a pollen grain in water, and the same walk on a loss.", "30 seconds");
    std::int64_t grains = 30000, chains = 1000, steps = 10000, batches = 400000;
    bool slip = false;
    example.option("--grains", grains, 500, "in the plane; a multiple of 25", 50);
    example.option("--chains", chains, 40, "of SGD and of SGLD on the loss", 2);
    example.option("--steps", steps, 2000, "of each of them", 1000);
    example.option("--batches", batches, 20000, "of each size, for the kurtosis of their noise", 2);
    example.flag("--slip", slip, "a broken twin for the tests: SGLD injects noise of variance e/2");
    return example.run(argc, argv, [&] {
        grain_in_water(example, grains);
        walk_on_loss(example, chains, steps, slip);
        std::printf("\n8. Excess kurtosis of the noise of a batch, 0 for a normal distribution\n");
        table_of_kurtosis(example, batches);
    });
}
