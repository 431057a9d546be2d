
BprobabilitiesJ(×/TdÌ3Ê Ï5†Ý9mF1%Ñ7W +ö?q\!0¶q­6