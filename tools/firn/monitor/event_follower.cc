// TensorBoard's event files. Points that a session repeats are removed: in this file here, and in
// earlier files where files are put together.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/io/monitors/event_messages.h"
#include "firn/io/monitors/tfrecord.h"
#include "tools/firn/monitor/follower.h"

namespace firn::cli {
namespace {

constexpr size_t kMostBuckets = 64;

// Neighbouring buckets become one.
io::EventHistogram Coarser(const io::EventHistogram& h) {
  const size_t n = h.buckets.size(), together = (n + kMostBuckets - 1) / kMostBuckets;
  if (together <= 1) return h;
  io::EventHistogram out = h;
  out.bucket_limits.clear();
  out.buckets.clear();
  for (size_t i = 0; i < n; i += together) {
    const size_t end = std::min(n, i + together);
    double sum = 0;
    for (size_t k = i; k < end; ++k) sum += h.buckets[k];
    out.bucket_limits.push_back(h.bucket_limits[end - 1]);
    out.buckets.push_back(sum);
  }
  return out;
}

class EventFollower final : public Follower {
 public:
  using Follower::Follower;

  bool in_sessions() const override { return true; }

  absl::Status Read(const io::RandomAccess& file) override {
    io::RecordReader reader(file, offset_);
    for (;;) {
      FIRN_ASSIGN_OR_RETURN(const std::optional<std::string> record,
                            reader.Next(rooms_->limits.max_record_bytes));
      if (!record.has_value()) return absl::OkStatus();
      io::Event event;
      const absl::Status status = io::ReadEvent(*record, &event);
      if (!status.ok()) {
        return io::Damaged(file.name(), offset_, "record", std::string(status.message()));
      }
      Take(std::move(event));
      offset_ = reader.offset();
    }
  }

 private:
  void Take(io::Event event) {
    if (event.starts_session) BeginAgain(event.step);
    const double x = static_cast<double>(event.step);
    for (const io::EventScalar& s : event.scalars) {
      AddPoint(s.tag, x, static_cast<double>(s.value));
    }
    for (io::TaggedHistogram& h : event.histograms) TakeHistogram(event.step, std::move(h));
    for (io::TaggedImage& i : event.images) TakePicture(event.step, std::move(i));
    for (const io::EventText& t : event.texts) TakeText(event.step, t);
    if (!event.graph.empty()) KeepGraph(std::move(event.graph));
  }

  void BeginAgain(int64_t step) {
    found_.begins_at = std::min(found_.begins_at.value_or(step), step);
    for (auto& [name, curve] : found_.curves) curve.value.RemoveFrom(static_cast<double>(step));
    for (auto& [name, row] : found_.histograms) {
      row.value.Remove([step](const HistogramAt& h) { return h.step >= step; });
    }
    for (auto& [name, row] : found_.pictures) {
      while (!row.newest.empty() && row.newest.back().step >= step) {
        row.newest.pop_back();
        --row.count;
      }
      // The first one's step is all that is known of points that made room for newer ones.
      if (row.first_step >= step) row.count = 0;
    }
  }

  void TakeHistogram(int64_t step, io::TaggedHistogram h) {
    const std::string name = Name(h.tag);
    auto at = found_.histograms.find(name);
    if (at == found_.histograms.end()) {
      constexpr size_t kBytes =
          (2 * Sample<int>::kMost + 1) * (sizeof(HistogramAt) + 2 * kMostBuckets * sizeof(double));
      Room::Share share = rooms_->other.Take(static_cast<int64_t>(kBytes));
      if (!share) return;
      at = found_.histograms.emplace(name, Findings::Kept<Sample<HistogramAt>>{}).first;
      at->second.share = std::move(share);
    }
    at->second.value.Add({step, Coarser(h.histogram)});
  }

  void TakePicture(int64_t step, io::TaggedImage i) {
    const std::string name = Name(i.tag);
    if (!found_.pictures.contains(name) && found_.pictures.size() == kMostPictureNames) {
      return rooms_->pictures.Refuse();
    }
    Findings::EventPictures& row = found_.pictures[name];
    row.first_step = row.count++ == 0 ? step : std::min(row.first_step, step);
    if (static_cast<int64_t>(row.newest.size()) >= rooms_->limits.max_pictures) {
      row.newest.pop_front();
    }
    const auto bytes = static_cast<int64_t>(i.image.encoded.size());
    if (bytes > rooms_->limits.max_picture_bytes) return rooms_->pictures.Refuse();
    Room::Share share = rooms_->pictures.Take(bytes + 512);
    // Newer ones are kept first.
    while (!share && !row.newest.empty()) {
      row.newest.pop_front();
      share = rooms_->pictures.Take(bytes + 512);
    }
    if (share) row.newest.push_back({step, std::move(i.image.encoded), std::move(share), {}});
  }

  void TakeText(int64_t step, const io::EventText& t) {
    const std::string name = Name(t.tag);
    auto at = found_.texts.find(name);
    if (at == found_.texts.end()) {
      Room::Share share = rooms_->other.Take(rooms_->limits.max_text_bytes + 512);
      if (!share) return;
      at = found_.texts.emplace(name, Findings::Kept<TextFound>{}).first;
      at->second.share = std::move(share);
    }
    const auto most = static_cast<size_t>(rooms_->limits.max_text_bytes);
    at->second.value = {name, t.text.substr(0, most), step, t.text.size() > most};
  }

  static constexpr size_t kMostPictureNames = 100;
};

}  // namespace

std::unique_ptr<Follower> FollowEvents(const std::string& file_name, Rooms* rooms) {
  if (file_name.find("tfevents") == std::string::npos) return nullptr;
  return std::make_unique<EventFollower>(rooms);
}

}  // namespace firn::cli
