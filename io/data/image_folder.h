#ifndef FIRN_IO_DATA_IMAGE_FOLDER_H_
#define FIRN_IO_DATA_IMAGE_FOLDER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "firn/io/data/dataset.h"
#include "firn/io/image/image.h"

namespace firn::io {

struct ImageFolderOptions {
  DecodeImageOptions image = {.color = ImageColor::kRgb};
  // Applied to each image, on the thread that decodes it; for example, to make all the same size,
  // which batches need. It is called by several threads at once.
  std::function<Tensor(Tensor image)> transform = {};
  // Leave out files whose names end as those of images that Firn does not read (.webp, .heic and
  // the like); otherwise they are an error that lists them.
  bool skip_unread = false;
};

// Images in folders, one folder a class: directory/<class>/.../<image>. Samples: the image u8
// [channels, height, width], or what `transform` makes of it, and the class's number i64 []. Only
// paths are kept: an image is read and decoded when it is asked for. Thread-safe.
class ImageFolderDataset final : public Dataset {
 public:
  // Throws as ImageFolder.
  ImageFolderDataset(const std::string& directory, ImageFolderOptions options);

  int64_t size() const override { return static_cast<int64_t>(name_ends_.size()); }
  // Throws OutOfRange for an index, else what ReadImage and `transform` throw, naming the file;
  // another exception of `transform` becomes a firn::Error, kInternal.
  Sample Get(int64_t i) const override;

  // Names of the folders, sorted by their bytes; class k is the k-th.
  const std::vector<std::string>& classes() const { return classes_; }
  // Where image `i` lies, and of which class it is, without reading it. Throws OutOfRange.
  std::string path(int64_t i) const;
  int64_t label(int64_t i) const { return At(i).label; }
  std::string NameOf(int64_t i) const override { return path(i); }

 private:
  struct File {
    std::string_view name;  // below the class's folder
    int64_t label;
  };
  File At(int64_t i) const;

  const std::string directory_;
  const ImageFolderOptions options_;
  std::vector<std::string> classes_;
  // Names of the files, by class, then sorted by name. A folder may have millions of them: their
  // names lie in one string.
  std::string names_;
  std::vector<int64_t> name_ends_;   // where each name ends
  std::vector<int64_t> class_ends_;  // the index after each class's last file
};

// The files below the folders of `directory` whose names end in .png, .apng, .jpg, .jpeg, .jpe,
// .jfif, .mpo, .bmp, .dib, .gif, .pbm, .pgm, .ppm, .pnm, .tif or .tiff, in small or capital
// letters; names that begin with a dot are passed over, as are files whose names are not those of
// images. Links to files are followed, links to folders are not. Throws firn::Error where the
// directory cannot be read, has no folders, one of those has no images, or images of formats that
// are not read (Unimplemented).
std::shared_ptr<const ImageFolderDataset> ImageFolder(const std::string& directory,
                                                      ImageFolderOptions options = {});

}  // namespace firn::io

#endif  // FIRN_IO_DATA_IMAGE_FOLDER_H_
