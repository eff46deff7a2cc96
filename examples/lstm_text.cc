// Texts of different lengths: a network of long short-term memory (S. Hochreiter and J.
// Schmidhuber, 1997) reads Roman numerals, letter by letter, and says their four decimal digits.
// Numerals are packed, so that no step is spent on those that have ended. The training step is
// captured once, and repeats the lengths of its first batch, so every batch is drawn with the same
// lengths.

#include <iostream>
#include <string>
#include <vector>

#include "firn/firn.h"

using namespace firn;  // NOLINT: an example

std::string Roman(int64_t number) {
  const struct {
    int64_t worth;
    const char* letters;
  } signs[] = {{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"},
               {40, "XL"},  {10, "X"},   {9, "IX"},  {5, "V"},    {4, "IV"},  {1, "I"}};
  std::string all;
  for (const auto& sign : signs) {
    for (; number >= sign.worth; number -= sign.worth) all += sign.letters;
  }
  return all;
}

// Letters are numbers from 0 to 6.
PackedSequence Pack(const std::vector<int64_t>& numbers) {
  std::vector<Tensor> texts;
  for (const int64_t number : numbers) {
    std::vector<int64_t> letters;
    for (const char c : Roman(number)) letters.push_back(std::string("IVXLCDM").find(c));
    texts.push_back(FromVector(letters));
  }
  return PackSequence(texts, false);
}

// Thousands, hundreds, tens and ones: [n, 4].
Tensor Digits(const std::vector<int64_t>& numbers) {
  const Tensor units = FromValues<int64_t>({1000, 100, 10, 1});
  return Div(FromVector(numbers).Unsqueeze(1), units, DivRounding::kFloor) % 10;
}

struct Reader : nn::Module {
  nn::Embedding& embedding = Add<nn::Embedding>("embedding", {.count = 7, .size = 16});
  nn::Lstm& lstm = Add<nn::Lstm>("lstm", {.in = 16, .hidden = 96});
  nn::Linear& head = Add<nn::Linear>("head", {.in = 96, .out = 40});

  // Scores of each digit: [n, 10, 4].
  Tensor Forward(PackedSequence text) {
    text.data = embedding(text.data);
    const LstmState end = lstm(text).state;  // the state of each text after its last letter
    return Unflatten(head(end.h[-1]), 1, {10, 4});
  }
};

int main(int argc, char** argv) {
  const int64_t steps = argc > 1 ? std::stoll(argv[1]) : 1000;
  ManualSeed(1);
  std::vector<int64_t> numbers = (Randperm(3999) + 1).ToVector<int64_t>();
  const std::vector<int64_t> others(numbers.end() - 500, numbers.end());
  numbers.resize(numbers.size() - 500);

  // A batch has about 128 texts, the longest first, with each length in the same proportion as
  // among all.
  std::vector<std::vector<int64_t>> by_length(16);
  for (const int64_t n : numbers) by_length[Roman(n).size()].push_back(n);
  const auto draw = [&] {
    std::vector<int64_t> batch;
    for (size_t length = 15; length > 0; --length) {
      const auto& all = by_length[length];
      for (size_t i = 0; i * numbers.size() < all.size() * 128; ++i) {
        batch.push_back(all[static_cast<size_t>(Uniform() * static_cast<double>(all.size()))]);
      }
    }
    return batch;
  };

  Reader net;
  optim::Adam adam(net.parameters(), {.lr = 5e-3});
  const std::vector<int64_t> first = draw();
  const PackedSequence packed = Pack(first);
  StaticGraph step = Freeze(
      [&](const Tensor& letters, const Tensor& digits) {
        adam.ZeroGrad();
        Tensor loss = CrossEntropy(net.Forward({letters, packed.batch_sizes}), digits);
        loss.Backward();
        adam.Step();
        return loss;
      },
      packed.data, Digits(first));
  optim::Scheduler schedule(adam, optim::CosineLr({.steps = steps}));
  for (int64_t i = 1; i <= steps; ++i) {
    const std::vector<int64_t> batch = draw();
    const Tensor loss = step(Pack(batch).data, Digits(batch));
    schedule.Step();
    if (i % 100 == 0) std::cout << "step " << i << ": loss " << loss.Item() << "\n";
  }

  const NoGradScope no_grad;
  const Tensor read = Argmax(net.Forward(Pack(others)), 1);
  const Tensor right = All(Eq(read, Digits(others)), 1);
  std::cout << "read without a mistake: " << right.To(DType::kF32).Mean().Item() << "\n";
  for (const size_t i : {0, 1, 2}) {
    std::cout << Roman(others[i]) << " is ";
    for (const int64_t digit : read[i].ToVector<int64_t>()) std::cout << digit;
    std::cout << "\n";
  }
}
