// GIF's LZW (GIF89a, appendix F). A code below 2^code_bits is a colour, the next two are "clear the
// table" and "end"; each code after that is a string of colours: the one that came before, and the
// first colour of the one that comes now. That string and that colour lie next to each other in the
// pixels unpacked so far, so the table keeps no strings, only where in the pixels each begins and
// how long it is. Codes grow by a bit when the table has 2^bits entries, up to 4096 entries of 12
// bits, after which the table stays as it is.
//
// Damage is never repaired: a code that the table does not have yet, too few pixels and too many
// pixels are errors. (giflib makes up pixels for the first, and does not check for the last.) Bytes
// behind the code for the end are padding. An image may lack that code, unless its last one is 0:
// that may be padding, and the pixel missing.
#include "firn/io/image/internal/gif_lzw.h"

#include <algorithm>

namespace firn::io::internal {
namespace {

constexpr unsigned kMaxBits = 12, kMaxCodes = 1u << kMaxBits;

// Bits from the lowest of each byte up, out of pieces.
class Codes {
 public:
  Codes(const unsigned char* data, size_t size) : begin_(data), at_(data), end_(data + size) {}

  // False at the end of the data: see ended() and damaged().
  bool Next(unsigned bits, unsigned* code) {
    while (have_ < bits) {
      if (piece_ == 0 && !NextPiece()) return false;
      waiting_ |= static_cast<uint32_t>(*at_++) << have_;
      have_ += 8;
      --piece_;
    }
    *code = waiting_ & ((1u << bits) - 1);
    waiting_ >>= bits;
    have_ -= bits;
    return true;
  }

  // Goes behind the empty piece. False when the file ends before it.
  bool SkipRest() {
    do at_ += piece_;
    while (NextPiece());
    return !short_;
  }

  // Whether only the padding of the last byte is left.
  bool AtPadding() { return have_ < 8 && waiting_ == 0 && piece_ == 0 && !NextPiece() && !short_; }

  bool file_ends_early() const { return short_; }
  size_t read() const { return static_cast<size_t>(at_ - begin_); }

 private:
  bool NextPiece() {
    piece_ = 0;
    if (ended_ || short_) return false;
    short_ = at_ == end_ || static_cast<size_t>(end_ - at_) < size_t{1} + *at_;
    if (short_) return false;
    piece_ = *at_++;
    ended_ = piece_ == 0;
    return !ended_;
  }

  const unsigned char* const begin_;
  const unsigned char* at_;
  const unsigned char* const end_;
  size_t piece_ = 0;  // bytes left of it
  bool ended_ = false, short_ = false;
  uint32_t waiting_ = 0;
  unsigned have_ = 0;
};

struct Entry {
  size_t start, length;
};

class Unpacker {
 public:
  Unpacker(unsigned code_bits, uint8_t* out, size_t pixels)
      : clear_(1u << code_bits), first_bits_(code_bits + 1), out_(out), pixels_(pixels) {
    Clear();
  }

  // What is wrong, else null.
  const char* Run(Codes* codes) {
    for (unsigned code = 0;;) {
      if (done_ == pixels_ && code != 0 && codes->AtPadding()) return nullptr;
      if (!codes->Next(bits_, &code)) {
        if (codes->file_ends_early()) return "the file ends early";
        return kTooFew;
      }
      if (code == clear_) {
        Clear();
        continue;
      }
      if (code == clear_ + 1) return done_ == pixels_ ? nullptr : kTooFew;
      if (const char* damage = Put(code)) return damage;
    }
  }

 private:
  static constexpr const char* kTooFew = "its data have fewer pixels than the image";

  void Clear() {
    bits_ = first_bits_;
    next_ = clear_ + 2;
    has_last_ = false;
  }

  const char* Put(unsigned code) {
    if (has_last_ && next_ < kMaxCodes) {
      // The string's last colour is the first one of the string that is copied now, so the copy
      // puts it there.
      entries_[next_++] = {last_.start, last_.length + 1};
      if (next_ == 1u << bits_ && bits_ < kMaxBits) ++bits_;
    }
    const bool is_color = code < clear_;
    if (!is_color && code >= next_) return "a code that its table does not have";
    const Entry from = is_color ? Entry{done_, 1} : entries_[code];
    if (from.length > pixels_ - done_) return "its data have more pixels than the image";
    last_ = {done_, from.length};
    has_last_ = true;
    if (is_color) {
      out_[done_++] = static_cast<uint8_t>(code);
      return nullptr;
    }
    // One pixel after the other, since a string may overlap its own copy.
    const uint8_t* p = out_ + from.start;
    uint8_t* to = out_ + done_;
    for (size_t i = 0; i < from.length; ++i) to[i] = p[i];
    done_ += from.length;
    return nullptr;
  }

  const unsigned clear_, first_bits_;
  uint8_t* const out_;
  const size_t pixels_;
  size_t done_ = 0;
  unsigned bits_ = 0, next_ = 0;
  bool has_last_ = false;
  Entry last_ = {};
  Entry entries_[kMaxCodes];
};

}  // namespace

GifPixels ReadGifPixels(const unsigned char* data, size_t size, unsigned code_bits, uint8_t* out,
                        size_t pixels) {
  Codes codes(data, size);
  Unpacker unpacker(code_bits, out, pixels);
  const char* damage = unpacker.Run(&codes);
  if (damage == nullptr && !codes.SkipRest()) damage = "the file ends early";
  return {damage, codes.read()};
}

}  // namespace firn::io::internal
