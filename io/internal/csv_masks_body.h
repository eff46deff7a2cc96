// No guard: csv_masks.cc includes it once for each FIRN_NAMESPACE, after what loads and compares
// the 64 bytes of a word there (Bytes, Load, Unlike, Least, HasZero, Zeros, Equal, Prefix), with
// FIRN_TARGET, the instructions that it is compiled for.
//
// Words come in fours that are asked at once, since most words of long lines have nothing.
// \r is compared with only in blocks that have one.
namespace firn::io::internal {
namespace {
namespace FIRN_NAMESPACE {

FIRN_TARGET uint64_t Find(const char* text, int n, char separator, CsvMasks::Word* words) {
  uint64_t some = 0;
  bool returns = false;
  const auto keep = [&](int k, Bytes x) FIRN_TARGET {
    const uint64_t matches = Zeros(Unlike(x));
    words[k].before = matches;
    some |= uint64_t{matches != 0} << k;
    returns |= Equal(x, '\r') != 0;
  };
  int k = 0;
  for (; k + 4 <= n; k += 4) {
    const char* const at = text + 64 * k;
    const Bytes a = Load(at), b = Load(at + 64), c = Load(at + 128), d = Load(at + 192);
    if (!HasZero(Least(Least(Unlike(a), Unlike(b)), Least(Unlike(c), Unlike(d))))) continue;
    keep(k, a);
    keep(k + 1, b);
    keep(k + 2, c);
    keep(k + 3, d);
  }
  for (; k < n; ++k) keep(k, Load(text + 64 * k));
  for (uint64_t left = some; left != 0; left &= left - 1) {
    k = std::countr_zero(left);
    const Bytes x = Load(text + 64 * k);
    CsvMasks::Word& w = words[k];
    w.quotes = Equal(x, '"');
    w.returns = returns ? Equal(x, '\r') : 0;
    w.feeds = w.before & ~(w.quotes | w.returns);
    w.before |= Equal(x, separator);
    w.inside = Prefix(w.quotes);
  }
  return some;
}

}  // namespace FIRN_NAMESPACE
}  // namespace
}  // namespace firn::io::internal
