#pragma once

#include <pollen/data/formats/idx.hpp>
#include <pollen/data/sets/dataset.hpp>

namespace pollen {

// The training or test part of a set of labelled images, laid out as data_directory() finds it:
//
//     Dataset<float> train = read_image_set<float>(data_directory("mnist"), "train");
//
// reads train-images.idx.gz and train-labels.idx.gz. The inputs are (n, 1, height, width), from 0 to 1.
template <Real T>
Dataset<T> read_image_set(const std::string& directory, const std::string& part, int classes = 10) {
    LabelledImages<T> read = read_labelled_images<T>(directory + "/" + part + "-images.idx.gz",
                                                     directory + "/" + part + "-labels.idx.gz", classes);
    return {.inputs = std::move(read.images), .labels = std::move(read.labels)};
}

}  // namespace pollen
