#include "train/explained_domains.h"

#include "grm/core/error.h"

namespace grm {
namespace {

Task task_of(const Model& model, const DataContext& context) {
  try {
    return config_from_toml(model.about().config, model.path()).dataset.load(context);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{} (the data that {} was trained on; --data says where "
                                          "else to look)",
                                          error.what(), model.path()));
  }
}

}  // namespace

ExplainedDomains explained_domains(const Model& model, const std::string& data,
                                   const DataContext& context) {
  ExplainedDomains all;
  if (data.empty() || data == model.about().dataset) {
    const Task task = task_of(model, context);
    // Tables that have changed since would be scaled anew; the model's own scaling is what counts.
    if (task.preprocessing == model.about().preprocessing) {
      if (task.classes != model.classes() || task.features() != model.features()) {
        fail(ErrorKind::data,
             "{}: the model was trained on {} features and {} classes, the data has {} and {}",
             model.path(), model.features(), model.classes(), task.features(), task.classes);
      }
      for (const Role role : {Role::test, Role::validation, Role::train}) {
        const std::vector<Domain>& some = task.domains(role);
        all.domains.insert(all.domains.end(), some.begin(), some.end());
      }
      all.test = task.test.size();
      return all;
    }
  }
  const std::string& name = data.empty() ? model.about().dataset : data;
  for (Asked& asked : data_to_predict(model, name, context)) {
    all.domains.push_back(std::move(asked.domain));
  }
  return all;
}

}  // namespace grm
