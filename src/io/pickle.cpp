// The opcodes are those of Python's pickletools.
#include "io/pickle.h"

#include <array>
#include <cstring>
#include <unordered_map>

#include "core/files.h"
#include "grm/core/error.h"

namespace grm::io {
namespace {

constexpr std::string_view kReconstruct = "numpy.core.multiarray\n_reconstruct";
constexpr std::string_view kNewReconstruct = "numpy._core.multiarray\n_reconstruct";  // NumPy 2
constexpr std::string_view kNdarray = "numpy\nndarray";
constexpr std::string_view kDtype = "numpy\ndtype";
constexpr std::string_view kCsr = "scipy.sparse.csr\ncsr_matrix";
constexpr std::string_view kDefaultdict = "collections\ndefaultdict";
constexpr std::string_view kList = "__builtin__\nlist";
constexpr std::array kGlobals = {kReconstruct, kNewReconstruct, kNdarray, kDtype,
                                 kCsr,         kDefaultdict,    kList};

// A value takes some fifty times the memory of its opcode; a graph of Planetoid has a few hundred
// thousand.
constexpr size_t kMostValues = 1000000;

}  // namespace

class PickleMachine {
 public:
  explicit PickleMachine(Pickle& pickle)
      : pickle_(pickle), bytes_(pickle.bytes_), values_(pickle.values_) {}

  void run() {
    while (true) {
      opcode_at_ = at_;
      opcode_ = number(1);
      if (opcode_ == '.') break;
      step();
    }
    if (stack_.size() != 1 || !marks_.empty()) refuse("the pickle does not end with one value");
    if (at_ != bytes_.size()) refuse("bytes follow the end of the pickle");
    pickle_.root_ = stack_.back();
  }

 private:
  void step() {
    switch (opcode_) {
      case 0x80:  // PROTO
        if (const int64_t version = number(1); version < 2 || version > 4) {
          refuse("only the protocols 2 to 4 are read");
        }
        return;
      case 0x95:  // FRAME: a hint for readers of streams
        number(8);
        return;
      case 'c':  // GLOBAL
        return push_global();
      case 0x93:  // STACK_GLOBAL
        return push_stack_global();
      case 0x94:  // MEMOIZE
        return put(static_cast<int64_t>(memo_.size()));
      case 'q':  // BINPUT
        return put(number(1));
      case 'r':  // LONG_BINPUT
        return put(number(4));
      case 'h':  // BINGET
        return get(number(1));
      case 'j':  // LONG_BINGET
        return get(number(4));
      case '(':  // MARK
        marks_.push_back(stack_.size());
        return;
      case ')':  // EMPTY_TUPLE
        return push({PickleKind::tuple, 0, {}, {}});
      case 0x85:  // TUPLE1
      case 0x86:  // TUPLE2
      case 0x87:  // TUPLE3
        return push({PickleKind::tuple, 0, {}, pop_last(opcode_ - 0x84)});
      case 't':  // TUPLE
        return push({PickleKind::tuple, 0, {}, pop_to_mark()});
      case '}':  // EMPTY_DICT
        return push({PickleKind::dict, 0, {}, {}});
      case ']':  // EMPTY_LIST
        return push({PickleKind::list, 0, {}, {}});
      case 'a':  // APPEND
        return extend(PickleKind::list, pop_last(1));
      case 'e':  // APPENDS
        return extend(PickleKind::list, pop_to_mark());
      case 's':  // SETITEM
        return extend(PickleKind::dict, pop_last(2));
      case 'u':  // SETITEMS
        return extend(PickleKind::dict, pop_to_mark());
      case 'J':  // BININT
        return push_integer(static_cast<int32_t>(number(4)));
      case 'K':  // BININT1
        return push_integer(number(1));
      case 'M':  // BININT2
        return push_integer(number(2));
      case 0x8a:  // LONG1
        return push_long();
      case 'N':  // NONE
        return push({PickleKind::none, 0, {}, {}});
      case 0x88:  // NEWTRUE
      case 0x89:  // NEWFALSE
        return push({PickleKind::boolean, opcode_ == 0x88, {}, {}});
      case 'U':   // SHORT_BINSTRING
      case 'C':   // SHORT_BINBYTES
      case 0x8c:  // SHORT_BINUNICODE
        return push({PickleKind::text, 0, take(number(1)), {}});
      case 'T':  // BINSTRING
      case 'B':  // BINBYTES
      case 'X':  // BINUNICODE
        return push({PickleKind::text, 0, take(number(4)), {}});
      case 0x8e:  // BINBYTES8
        return push({PickleKind::text, 0, take(number(8)), {}});
      case 'R':  // REDUCE
        return reduce();
      case 0x81:  // NEWOBJ
        return new_object();
      case 'b':  // BUILD
        return build();
      default:
        refuse("this opcode is not among those that these files use");
    }
  }

  [[noreturn]] void refuse(const std::string& what) const {
    const bool printable = opcode_ > ' ' && opcode_ < 127;
    fail(ErrorKind::data, "{}: byte {}: opcode 0x{:02x}{}: {}", pickle_.path_, opcode_at_, opcode_,
         printable ? fmt::format(" '{}'", static_cast<char>(opcode_)) : "", what);
  }

  std::string_view take(int64_t size) {
    if (size < 0 || size > static_cast<int64_t>(bytes_.size() - at_)) refuse("the file ends here");
    at_ += static_cast<size_t>(size);
    return std::string_view(bytes_).substr(at_ - static_cast<size_t>(size),
                                           static_cast<size_t>(size));
  }

  int64_t number(int size) {  // little-endian, unsigned
    int64_t value = 0;
    const std::string_view raw = take(size);
    for (int i = 0; i < size; ++i) value |= int64_t{static_cast<uint8_t>(raw[i])} << (8 * i);
    return value;
  }

  void push(PickleValue value) {
    if (values_.size() >= kMostValues) refuse("the pickle has more values than these files need");
    stack_.push_back(static_cast<PickleRef>(values_.size()));
    values_.push_back(std::move(value));
  }

  void push_integer(int64_t value) { push({PickleKind::integer, value, {}, {}}); }

  void push_long() {  // two's complement, little-endian
    const int64_t size = number(1);
    if (size > 8) refuse("the number is beyond 64 bits");
    const std::string_view raw = take(size);
    uint64_t value = !raw.empty() && (raw.back() & 0x80) ? ~uint64_t{0} : 0;
    if (!raw.empty()) std::memcpy(&value, raw.data(), raw.size());
    push_integer(static_cast<int64_t>(value));
  }

  void push_global() {
    const size_t begin = at_;
    for (int line = 0; line < 2; ++line) {
      const size_t end = bytes_.find('\n', at_);
      if (end == std::string::npos) refuse("the name does not end");
      at_ = end + 1;
    }
    push_known(std::string_view(bytes_).substr(begin, at_ - 1 - begin));
  }

  void push_stack_global() {
    const std::vector<PickleRef> words = pop_last(2);
    for (const PickleRef word : words) {
      if (values_[word].kind != PickleKind::text) refuse("the name is not a text");
    }
    push_known(std::string(values_[words[0]].text) + "\n" + std::string(values_[words[1]].text));
  }

  void push_known(std::string_view name) {
    for (const std::string_view known : kGlobals) {
      if (name == known) return push({PickleKind::global, 0, known, {}});
    }
    std::string shown(name.substr(0, 80));
    for (char& c : shown) c = c == '\n' ? '.' : c < ' ' || c > '~' ? '?' : c;
    refuse("'" + shown + "' is not a class that these files use");
  }

  // Values below the last mark belong to someone else.
  size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  PickleRef top() {
    if (stack_.size() <= floor()) refuse("a value is missing on the stack");
    return stack_.back();
  }

  PickleRef pop() {
    const PickleRef ref = top();
    stack_.pop_back();
    return ref;
  }

  std::vector<PickleRef> pop_from(size_t begin) {
    std::vector<PickleRef> items(stack_.begin() + static_cast<std::ptrdiff_t>(begin), stack_.end());
    stack_.resize(begin);
    return items;
  }

  std::vector<PickleRef> pop_last(int64_t count) {
    if (static_cast<int64_t>(stack_.size() - floor()) < count) {
      refuse("a value is missing on the stack");
    }
    return pop_from(stack_.size() - static_cast<size_t>(count));
  }

  std::vector<PickleRef> pop_to_mark() {
    if (marks_.empty()) refuse("there is no mark");
    const size_t mark = marks_.back();
    marks_.pop_back();
    return pop_from(mark);
  }

  void extend(PickleKind kind, const std::vector<PickleRef>& items) {
    PickleValue& target = values_[top()];
    if (target.kind != kind) refuse("it does not follow a list or dictionary");
    if (kind == PickleKind::dict && items.size() % 2 != 0) refuse("a key has no value");
    target.items.insert(target.items.end(), items.begin(), items.end());
  }

  void put(int64_t key) { memo_[key] = top(); }

  void get(int64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) refuse(fmt::format("memo {} was never stored", key));
    stack_.push_back(found->second);
  }

  bool is_global(PickleRef ref, std::string_view name) const {
    return values_[ref].kind == PickleKind::global && values_[ref].text == name;
  }

  // A call f(arguments) of one of the known constructors.
  void reduce() {
    const std::vector<PickleRef> call = pop_last(2);
    const PickleValue& arguments = values_[call[1]];
    if (arguments.kind != PickleKind::tuple) refuse("the arguments are not a tuple");
    const std::vector<PickleRef>& given = arguments.items;
    const bool reconstructs =
        is_global(call[0], kReconstruct) || is_global(call[0], kNewReconstruct);
    if (reconstructs && given.size() == 3 && is_global(given[0], kNdarray)) {
      return push({PickleKind::array, 0, {}, {}});
    }
    if (is_global(call[0], kDtype) && given.size() == 3 &&
        values_[given[0]].kind == PickleKind::text) {
      return push({PickleKind::dtype, 0, values_[given[0]].text, {}});
    }
    if (is_global(call[0], kDefaultdict) && given.size() == 1 && is_global(given[0], kList)) {
      return push({PickleKind::dict, 0, {}, {}});
    }
    refuse("this call is not one that these files make");
  }

  void new_object() {
    const std::vector<PickleRef> call = pop_last(2);
    const PickleValue& arguments = values_[call[1]];
    if (!is_global(call[0], kCsr) || arguments.kind != PickleKind::tuple ||
        !arguments.items.empty()) {
      refuse("this object is not one that these files make");
    }
    push({PickleKind::csr, 0, {}, {}});
  }

  // Gives an object its members.
  void build() {
    const PickleRef state_ref = pop();
    PickleValue& object = values_[top()];
    const PickleValue& state = values_[state_ref];
    const auto is = [&](size_t i, PickleKind kind) { return values_[state.items[i]].kind == kind; };
    if (object.kind == PickleKind::csr && state.kind == PickleKind::dict) {
      object.items = {state_ref};
    } else if (object.kind == PickleKind::dtype && state.kind == PickleKind::tuple &&
               state.items.size() >= 2 && is(1, PickleKind::text)) {
      const std::string_view order = values_[state.items[1]].text;
      if (order != "<" && order != "|") refuse("only little-endian numbers are read");
    } else if (object.kind == PickleKind::array && state.kind == PickleKind::tuple &&
               state.items.size() == 5 && is(1, PickleKind::tuple) && is(2, PickleKind::dtype) &&
               is(3, PickleKind::boolean) && is(4, PickleKind::text)) {
      object.items.assign(state.items.begin() + 1, state.items.end());
    } else {
      refuse("the object does not get the members it should");
    }
  }

  Pickle& pickle_;
  const std::string& bytes_;
  std::deque<PickleValue>& values_;
  std::vector<PickleRef> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<int64_t, PickleRef> memo_;
  size_t at_ = 0;
  size_t opcode_at_ = 0;
  int64_t opcode_ = 0;
};

Pickle::Pickle(const std::string& path) : path_(path), bytes_(read_file(path)) {
  if (bytes_.size() >= UINT32_MAX) fail(ErrorKind::data, "{}: is larger than 4 GiB", path);
  PickleMachine(*this).run();
}

}  // namespace grm::io
