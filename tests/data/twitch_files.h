#pragma once

#include <map>
#include <string>

#include "support/temp_folder.h"

namespace grm::test {

/// Three nodes; labels 1 0 1 by new_id, in another order in the file.
inline const std::string kTwitchTarget =
    "id,days,mature,views,partner,new_id\n"
    "900,1,True,5,False,2\n"
    "901,1,True,5,False,0\n"
    "902,1,False,5,True,1\n";
inline const std::string kTwitchEdges = "from,to\n0,1\n2,1\n";
inline const std::string kTwitchFeatures = R"({"2": [3169, 0, 3169], "0": [7], "1": [8, 9]})";

inline void write_twitch_region(const TempFolder& folder, const std::string& region,
                                const std::string& target = kTwitchTarget,
                                const std::string& edges = kTwitchEdges,
                                const std::string& features = kTwitchFeatures) {
  const std::string stem = "twitch/" + region + "/musae_" + region + "_";
  folder.write(stem + "target.csv", target);
  folder.write(stem + "edges.csv", edges);
  folder.write(stem + "features.json", features);
}

inline void write_twitch(const TempFolder& folder) {
  for (const char* region : {"DE", "ENGB", "ES", "FR", "PTBR", "RU", "TW"}) {
    write_twitch_region(folder, region);
  }
}

}  // namespace grm::test
