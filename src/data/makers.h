#pragma once

#include <memory>

#include "grm/data/dataset.h"

namespace grm {

/// One maker per row of the table in registry.cpp; each is defined in the dataset's own file.
std::unique_ptr<Dataset> make_sbm();
std::unique_ptr<Dataset> make_scale();
std::unique_ptr<Dataset> make_cora();
std::unique_ptr<Dataset> make_cora_mix();
std::unique_ptr<Dataset> make_photo();
std::unique_ptr<Dataset> make_twitch();
std::unique_ptr<Dataset> make_fb100();
std::unique_ptr<Dataset> make_elliptic();
std::unique_ptr<Dataset> make_arxiv();
std::unique_ptr<Dataset> make_spmotif();
std::unique_ptr<Dataset> make_molhiv();
std::unique_ptr<Dataset> make_graph_sst2();
std::unique_ptr<Dataset> make_sst2_tree();
std::unique_ptr<Dataset> make_mnist75sp();
std::unique_ptr<Dataset> make_good_motif();
std::unique_ptr<Dataset> make_good_cbas();
std::unique_ptr<Dataset> make_good_hiv();
std::unique_ptr<Dataset> make_good_pcba();
std::unique_ptr<Dataset> make_good_cmnist();
std::unique_ptr<Dataset> make_good_webkb();
std::unique_ptr<Dataset> make_good_twitch();
std::unique_ptr<Dataset> make_good_sst2();
std::unique_ptr<Dataset> make_good_twitter();
std::unique_ptr<Dataset> make_good_cora();
std::unique_ptr<Dataset> make_good_arxiv();
std::unique_ptr<Dataset> make_drugood_ec50();
std::unique_ptr<Dataset> make_bace();
std::unique_ptr<Dataset> make_bbbp();
std::unique_ptr<Dataset> make_clintox();
std::unique_ptr<Dataset> make_sider();
std::unique_ptr<Dataset> make_tox21();
std::unique_ptr<Dataset> make_nci1();
std::unique_ptr<Dataset> make_nci109();
std::unique_ptr<Dataset> make_proteins();
std::unique_ptr<Dataset> make_webkb();

}  // namespace grm
